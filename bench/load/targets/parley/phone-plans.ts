/** Plans of far-end processes that call a Parley: phones, browsers or both, as the workload has them. */
import { TargetFault } from '../../contract/target.ts';
import type { Workload } from '../../contract/workload.ts';
import type { ChoiceOptions } from '../chosen-target.ts';
import { listenerOf } from '../option-values.ts';
import type { BrowserPlan, ParleyPlan, TargetPlan } from '../target-plan.ts';

/** Throws a `TargetFault`. `carrierListen`: where the tool's carrier listens. */
export function plansOf(options: ChoiceOptions, carrierListen: string): TargetPlan[] {
  const { flags, workload, soundFolder, processes, gapBufferMs } = options;
  const { phones, browsers } = whoCalls(workload);
  if (phones && processes > 1) {
    throw new TargetFault(
      '--processes: a Parley has one carrier, which is one process; leave it out, or load with several runs',
    );
  }
  const { host, port } = listenerOf(carrierListen, '--carrier-listen');
  return Array.from({ length: processes }, (_one, process): TargetPlan => {
    const phone: ParleyPlan = {
      kind: 'parley',
      carrierHost: host,
      carrierPort: port,
      authId: flags.carrierId,
      authToken: flags.carrierToken,
      numbers: flags.to,
      gapBufferMs,
      expectSignal: flags.expectSignal,
      soundFolder,
      process,
      of: processes,
    };
    const browser: BrowserPlan = { kind: 'browser', gapBufferMs, soundFolder, process };
    if (phones && browsers) return { kind: 'mixed', phone, browser };
    return phones ? phone : browser;
  });
}

export function whoCalls({ callers }: Workload): { phones: boolean; browsers: boolean } {
  return { phones: callers.some(({ by }) => by === 'phone'), browsers: callers.some(({ by }) => by === 'browser') };
}
