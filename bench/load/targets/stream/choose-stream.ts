/**
 * A voice bot on a carrier's media streams, by its address (`--stream`, `--answer-url`), and the naive gateway, which
 * is one that the tool starts (`--against naive`). Called by `choose-target.ts`.
 */
import { startNaiveGateway } from '../../../calls/subjects.ts';
import { TargetFault } from '../../contract/target.ts';
import { assertMayLoad } from '../../run/may-load.ts';
import type { RunFlags } from '../../run-flags.ts';
import type { ChoiceOptions, ChosenTarget } from '../chosen-target.ts';
import { pairsOf } from '../option-values.ts';
import { factsOf, processesHere } from '../target-facts.ts';
import { PROTOCOLS, type ProtocolName } from './protocols.ts';
import { addressOf, type StreamPlan } from './stream-plan.ts';

const METHODS = ['POST', 'GET'] as const;

/** Throws a `TargetFault` where an option is not written as it should be, or the target is not this machine's. */
export function chooseStream(options: ChoiceOptions): ChosenTarget {
  const { flags, processes } = options;
  const plan = streamPlanOf(options);
  const address = addressOf(plan);
  assertMayLoad(address, flags.iMayLoadThisTarget);
  const kind = 'streamUrl' in plan.address ? 'stream' : 'answer-url';
  return {
    kind,
    plans: Array.from({ length: processes }, () => plan),
    prepare: async () => ({
      facts: factsOf(kind, address, plan.protocol),
      deployment: null,
      advice: null,
      processes: () => processesHere(flags, address),
      beside: [],
      metricsUrl: flags.metrics ?? null,
      databaseUrl: null,
      garbage: null,
      webhooks: null,
      stop: async () => {},
    }),
  };
}

/** A gateway as most are written, in a process of its own. */
export async function chooseNaive(options: ChoiceOptions): Promise<ChosenTarget> {
  const { flags, onStop } = options;
  if (flags.against !== 'naive') throw new TargetFault(`--against ${flags.against}: there is naive alone`);
  const gateway = await startNaiveGateway();
  onStop(() => gateway.stop());
  const stream = chooseStream({ ...options, flags: { ...flags, stream: gateway.urlPrefix, protocol: 'plivo' } });
  return {
    ...stream,
    kind: 'naive',
    async prepare(carrierBases) {
      const prepared = await stream.prepare(carrierBases);
      const processes = [{ name: 'naive', pid: () => gateway.pid, withChildren: false }];
      return { ...prepared, facts: { ...prepared.facts, kind: 'naive' }, processes: () => processes };
    },
  };
}

function streamPlanOf({ flags, soundFolder, gapBufferMs }: ChoiceOptions): StreamPlan {
  const names = Object.keys(PROTOCOLS);
  if (!names.includes(flags.protocol)) {
    throw new TargetFault(`--protocol ${flags.protocol}: take one of ${names.join(', ')}`);
  }
  return {
    kind: 'stream',
    protocol: flags.protocol as ProtocolName,
    address: addressIn(flags),
    mayLeadElsewhere: flags.iMayLoadThisTarget,
    headers: pairsOf(flags.header, ':', '--header'),
    parameters: pairsOf(flags.parameter, '=', '--parameter'),
    authToken: flags.authToken ?? null,
    gapBufferMs,
    expectSignal: flags.expectSignal,
    soundFolder,
  };
}

function addressIn({ stream, answerUrl, answerMethod }: RunFlags): StreamPlan['address'] {
  if (stream !== undefined) {
    if (URL.canParse(stream) && /^wss?:/.test(stream)) return { streamUrl: stream };
    throw new TargetFault(`--stream ${stream}: write an address that begins with ws:// or wss://`);
  }
  if (answerUrl === undefined || !URL.canParse(answerUrl) || !/^https?:/.test(answerUrl)) {
    throw new TargetFault(`--answer-url ${answerUrl}: write an address that begins with http:// or https://`);
  }
  const method = METHODS.find((name) => name === answerMethod.toUpperCase());
  if (method !== undefined) return { answerUrl, answerMethod: method };
  throw new TargetFault(`--answer-method ${answerMethod}: take one of ${METHODS.join(', ')}`);
}
