/** Ends a call because somebody asked for it: the API today, an operator later. Idempotent; a finished call stays as it is. */
import type { Transitions } from './transition.ts';

export async function endCall(
  transitions: Transitions,
  callUuid: string,
  reason: 'api_hangup' | 'operator_hangup',
): Promise<'asked' | 'over' | 'unknown_call'> {
  const applied = await transitions.apply(callUuid, {
    type: 'end.asked',
    reason,
    hangupBy: reason === 'operator_hangup' ? 'operator' : 'platform',
  });
  if (typeof applied === 'string') return 'unknown_call';
  return applied.change.deeds.includes('hang_up') ? 'asked' : 'over';
}
