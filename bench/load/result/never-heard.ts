/**
 * A call that was answered and in which the target made no sound: whoever rings a dead agent talks with nobody, so it
 * is none of those that talked. Pure; asked by `run/recorder.ts` of each call.
 */
import type { MeasuredCall } from '../contract/measured-call.ts';

/** Who hung up sooner may have hung up on somebody who was about to speak. */
const LEAST_MS = 5_000;

/** The call as it counts. */
export function asHeard(call: MeasuredCall): MeasuredCall {
  const { fate, answeredAtMs, endedAtMs, firstWordMs } = call;
  if (fate !== 'talked' || firstWordMs !== null || answeredAtMs === null || endedAtMs === null) return call;
  if (endedAtMs - answeredAtMs < LEAST_MS) return call;
  const seconds = Math.round((endedAtMs - answeredAtMs) / 1_000);
  const why = `it was answered, and nothing was heard of the target in ${seconds} s`;
  return { ...call, fate: 'failed', code: 'silent', why };
}
