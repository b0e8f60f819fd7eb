/** Errors that Flux tells over its socket, in our classes. Pure. */
import { ProviderError } from '../provider/provider-error.ts';

/** The service's own trouble; any other code says that what was sent is wrong. */
const TRANSIENT = new Set(['INTERNAL_SERVER_ERROR', 'SERVICE_UNAVAILABLE', 'TIMEOUT', 'NET-0000', 'NET-0001']);
const MOST_SAID_CHARS = 300;

export function errorOfFluxCode(code: unknown, description: unknown): ProviderError {
  const name = typeof code === 'string' ? code.slice(0, MOST_SAID_CHARS) : 'an error without a code';
  const said =
    typeof description === 'string' && description !== '' ? `: ${description.slice(0, MOST_SAID_CHARS)}` : '';
  return new ProviderError(TRANSIENT.has(name) ? 'failed' : 'refused', `Deepgram said ${name}${said}`);
}
