/**
 * Errors that AssemblyAI tells of a session, by a message or by the close of its socket, in our classes. A wrong key is
 * told so too: the upgrade is always taken. Pure
 * (https://www.assemblyai.com/docs/streaming/common-session-errors-and-closures).
 */
import { ProviderError } from '../provider/provider-error.ts';

const UNAUTHORIZED = 1008;
/** What was sent cannot be read. */
const INVALID = 3006;
const TOO_MANY_SESSIONS = 3009;
const CODES = new Set([UNAUTHORIZED, 3005, INVALID, 3007, 3008, TOO_MANY_SESSIONS]);
const MOST_SAID_CHARS = 300;

/** Null: the code is none of AssemblyAI's. `hasBegun`: the session was taken, so that its settings are right. */
export function errorOfSession(code: unknown, said: unknown, hasBegun: boolean): ProviderError | null {
  if (typeof code !== 'number' || !CODES.has(code)) return null;
  const words = typeof said === 'string' ? said.slice(0, MOST_SAID_CHARS) : '';
  const message = `AssemblyAI ended the session (${code}${words === '' ? '' : `, ${words}`})`;
  if (code === TOO_MANY_SESSIONS || (code === UNAUTHORIZED && /too many/i.test(words)))
    return new ProviderError('throttled', message);
  const isLasting = code === UNAUTHORIZED || (code === INVALID && !hasBegun);
  return new ProviderError(isLasting ? 'refused' : 'failed', message);
}
