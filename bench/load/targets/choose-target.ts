/**
 * From options to what is called: a stream, a deployment by address, the tool's own service, or the naive gateway.
 * Called by the run command. Each fault names the option and the way out (`TargetFault`).
 */
import { TargetFault } from '../contract/target.ts';
import type { RunFlags } from '../run-flags.ts';
import type { ChoiceOptions, ChosenTarget } from './chosen-target.ts';
import { chooseDeployment } from './parley/choose-deployment.ts';
import { chooseNaive, chooseStream } from './stream/choose-stream.ts';

export async function chooseTarget(options: ChoiceOptions): Promise<ChosenTarget> {
  const { flags } = options;
  assertOneTarget(flags);
  if (flags.stream !== undefined || flags.answerUrl !== undefined) return chooseStream(options);
  if (flags.against !== undefined) return chooseNaive(options);
  if (flags.url !== undefined) return chooseDeployment(options, flags.url);
  // Read only now: half of the tool's modules are those of a service, which a run against another's has no use for.
  const { chooseOwn } = await import('./parley/choose-own.ts');
  return chooseOwn(options);
}

function assertOneTarget({ stream, answerUrl, against, url }: RunFlags): void {
  const given = Object.entries({ '--url': url, '--stream': stream, '--answer-url': answerUrl, '--against': against })
    .filter(([, value]) => value !== undefined)
    .map(([option]) => option);
  if (given.length > 1) throw new TargetFault(`${given.join(' and ')}: a run has one target; say one of them`);
}
