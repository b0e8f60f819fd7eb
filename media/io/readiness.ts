/**
 * `/readyz` and `/healthz` of a service that is being stopped, answered by the media process itself: at once, whatever
 * control is doing. As long as the service goes on, control answers them.
 */
import type { HttpExchange } from './socket-server/http-exchange.ts';

const PROBES = new Set(['/readyz', '/healthz']);
const RETRY_SECONDS = '5';

/** True: it was a probe, and is answered. */
export function answerNotReady(exchange: HttpExchange): boolean {
  const [path = ''] = exchange.url.split('?', 1);
  if (!PROBES.has(path) || !['GET', 'HEAD'].includes(exchange.method)) return false;
  const body = Buffer.from(JSON.stringify({ status: 'unavailable' }));
  exchange.respond(
    503,
    '',
    [
      ['content-type', 'application/json; charset=utf-8'],
      ['cache-control', 'no-store'],
      ['retry-after', RETRY_SECONDS],
    ],
    body.length,
  );
  if (exchange.method === 'GET') exchange.write(body);
  exchange.end();
  return true;
}
