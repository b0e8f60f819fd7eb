/** What to do about a request that made no call, or a call that was not dialled as it should. For people. Pure. */
import { ENDED_REASONS, type EndedReason } from '../../media/contract/call-outcome.ts';
import { CARRIER_REFUSAL_CODES, ERROR_CODES, type ErrorCode, meaningOf } from '../errors/error-codes.ts';

const BY_FAULT: Readonly<Record<string, string>> = {
  client: 'It was asked for: by a request, or by the settings of the workspace.',
  carrier: "Look at the carrier's account and at the credentials (Settings, Phone numbers); the call has its answer.",
  provider: 'Test the connection of the agent (Settings, Connections); the events of the call say what failed.',
  platform: 'A fault on this side: the events of the call say which, and `parley doctor` whether something lasts.',
};

/** `code`: an error code, or the reason with which a call ended. */
export function wayOutOf(code: string): string {
  if (CARRIER_REFUSAL_CODES.includes(code as EndedReason))
    return BY_FAULT[ENDED_REASONS[code as EndedReason].fault] ?? '';
  return ERROR_CODES.includes(code as ErrorCode) ? meaningOf(code as ErrorCode) : '';
}

/** The called person's doing is no reason to look for one here. */
export const isOurs = (reason: string): boolean =>
  Object.hasOwn(ENDED_REASONS, reason) && ENDED_REASONS[reason as EndedReason].fault !== 'callee';
