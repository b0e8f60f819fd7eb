/**
 * Media processes go by their machine's wall clock, control by the cluster's (`src/nodes/shared-clock.ts`): each time
 * in a message is moved where it crosses the link. Used by `media-peer.ts`.
 */
import type { CallSetup, ToControl } from '../../media/contract/link-messages.ts';

/** What media says, in the cluster's time. `aheadMs`: of the machine's. */
export function inSharedTime(message: ToControl, aheadMs: number): ToControl {
  if (aheadMs === 0) return message;
  if (message.type === 'live') return { ...message, atEpochMs: message.atEpochMs + aheadMs };
  if (message.type === 'media.started' && message.startedAtEpochMs !== undefined) {
    return { ...message, startedAtEpochMs: message.startedAtEpochMs + aheadMs };
  }
  if (message.type === 'tool.call') {
    return { ...message, ask: { ...message.ask, expiresAtEpochMs: message.ask.expiresAtEpochMs + aheadMs } };
  }
  return message;
}

/** What a media process is given of a call, in its machine's time. */
export function inMachineTime(setup: CallSetup, aheadMs: number): CallSetup {
  return aheadMs === 0 ? setup : { ...setup, answeredAtEpochMs: setup.answeredAtEpochMs - aheadMs };
}
