/** Opens a media socket as the carrier does: signed where there is a token, with the headers that were given. */
import { WebSocket } from 'ws';
import { CallFault, connectionFault } from './call-fault.ts';
import { PROTOCOLS } from './protocols.ts';
import type { StreamPlan } from './stream-plan.ts';

const HANDSHAKE_TIMEOUT_MS = 10_000;
/** More than any carrier takes. */
const LONGEST_MESSAGE_BYTES = 4 * 1_048_576;

/**
 * Resolves with an open socket that is paused, so that nothing is missed before somebody listens; rejects with a
 * `CallFault`. `signal` ends the try.
 */
export function dialStream(url: string, plan: StreamPlan, signal: AbortSignal): Promise<WebSocket> {
  const { authToken, headers, protocol } = plan;
  const signature =
    authToken === null ? {} : PROTOCOLS[protocol].signatureOf({ method: 'GET', url, params: {} }, authToken);
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, {
      headers: { ...headers, ...signature },
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      perMessageDeflate: false,
      maxPayload: LONGEST_MESSAGE_BYTES,
      // Masking is for proxies that browsers meet; of a mask of zeros nothing has to be computed.
      generateMask: (mask) => void mask.fill(0),
    });
    const abort = (): void => socket.terminate();
    signal.addEventListener('abort', abort, { once: true });
    socket.on('unexpected-response', (_request, response) => {
      const status = String(response.statusCode);
      reject(new CallFault('refused', status, `${withoutQuery(url)} refused the stream with ${status}`));
      response.destroy();
      socket.terminate();
    });
    socket.once('open', () => {
      signal.removeEventListener('abort', abort);
      socket.pause();
      resolve(socket);
    });
    // Also the end of a try that was given up; later errors end in `close`, which the session sees.
    socket.on('error', (error) => reject(connectionFault(error, withoutQuery(url))));
    if (signal.aborted) abort();
  });
}

/** What may stand in a report. */
function withoutQuery(url: string): string {
  return url.split('?', 1)[0]!;
}
