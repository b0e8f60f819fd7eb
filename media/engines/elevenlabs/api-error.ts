/** Errors that ElevenLabs tells over a socket, in our classes. Pure. */
import { ProviderError } from '../provider/provider-error.ts';

const THROTTLED = /concurrent|rate_limit|too_many|system_busy/;
const TRANSIENT = /max_active_conversations|internal|timeout|timed_out/;
const MOST_SAID_CHARS = 300;

export function errorOfMessage({ error, message }: Record<string, unknown>): ProviderError {
  const name = typeof error === 'string' ? error.slice(0, MOST_SAID_CHARS) : 'an error without a name';
  const said = typeof message === 'string' && message !== '' ? `: ${message.slice(0, MOST_SAID_CHARS)}` : '';
  // Too many contexts of one socket: another has room.
  const isTransient = TRANSIENT.test(name);
  const fault = isTransient ? 'failed' : THROTTLED.test(name) ? 'throttled' : 'refused';
  return new ProviderError(fault, `ElevenLabs said ${name}${said}`);
}
