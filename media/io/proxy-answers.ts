/**
 * What the media process answers itself to a plain request that does not reach control, or that control does not
 * answer: the contract's envelope (§12), and on the embed session's path its headers for pages too, so that a page can
 * read why it failed.
 */
import { randomUUID } from 'node:crypto';
import { pathOf } from './request-room/lanes.ts';
import type { HeaderList, HttpExchange } from './socket-server/http-exchange.ts';

const RETRY_AFTER: [name: string, value: string] = ['retry-after', '1'];
const HARMLESS_ID = /^[A-Za-z0-9._-]{1,64}$/;

const EMBED_PATH = '/api/embed/session';
/** Errors of the specification's operations have two keys and no more; these have a message of their own for 429. */
const OWN_429: readonly [path: RegExp, message: string][] = [
  [/^\/api\/outbound-call$/, 'Carrier rate limit exceeded'],
  [/^\/api\/developer\/leads\/[^/]+\/call$/, 'Carrier rate limit exceeded'],
  [/^\/api\/embed\/session$/, 'Too many sessions'],
];
const SPECIFIED_BELOW_NEW = /^\/api\/developer\/leads(?:\/[^/]+\/call)?$/;
const NEW = '/api/developer/';

/** Contract §2 row 12: control is away, restarting or draining. */
export function answerUnavailable(exchange: HttpExchange): void {
  answerEnvelope(exchange, 503, 'Service temporarily unavailable', 'draining', [RETRY_AFTER]);
}

/** All the room that there is for such requests is taken. */
export function answerNoRoom(exchange: HttpExchange, closes: boolean): void {
  answerEnvelope(exchange, 503, 'Service temporarily unavailable', 'overloaded', [RETRY_AFTER], closes);
}

/** The rest of its body is not waited for. */
export function answerSlowBody(exchange: HttpExchange): void {
  answerEnvelope(exchange, 408, 'Request body too slow', 'body_too_slow', [], true);
}

/** This client has as much open as one may. */
export function answerOpenRequestsLimit(exchange: HttpExchange, closes: boolean): void {
  const path = pathOf(exchange.url);
  const message = OWN_429.find(([specified]) => specified.test(path))?.[1] ?? 'Too many requests';
  answerEnvelope(exchange, 429, message, 'open_requests_limit', [RETRY_AFTER], closes);
}

/** `closes`: the rest of the request is not waited for. */
export function answerEnvelope(
  exchange: HttpExchange,
  httpStatus: number,
  message: string,
  errorCode: string,
  moreHeaders: HeaderList,
  closes = false,
): void {
  exchange.onBody = null;
  const requestId = headerOf(exchange, 'x-request-id');
  const id = requestId !== undefined && HARMLESS_ID.test(requestId) ? requestId : randomUUID();
  const more = hasLongErrors(exchange) ? { code: errorCode, requestId: id, details: [] } : {};
  const body = Buffer.from(JSON.stringify({ success: false, message, ...more }));
  const headers: HeaderList = [
    ['content-type', 'application/json; charset=utf-8'],
    ['x-error-code', errorCode],
    ['x-request-id', id],
    ['cache-control', 'no-store'],
    ...pageHeaders(exchange),
    ...moreHeaders,
  ];
  if (closes) {
    exchange.respondAndClose(httpStatus, headers, body);
    return;
  }
  exchange.respond(httpStatus, '', headers, body.length);
  exchange.write(body);
  exchange.end();
}

function pageHeaders(exchange: HttpExchange): HeaderList {
  if (pathOf(exchange.url) !== EMBED_PATH) return [];
  const origin = headerOf(exchange, 'origin');
  if (origin === undefined) return [['vary', 'Origin']];
  return [
    ['vary', 'Origin'],
    ['access-control-allow-origin', origin],
    ['access-control-expose-headers', 'X-Error-Code, X-Request-Id, Retry-After'],
  ];
}

function hasLongErrors({ method, url }: HttpExchange): boolean {
  const path = pathOf(url);
  return path.startsWith(NEW) && !(method === 'POST' && SPECIFIED_BELOW_NEW.test(path));
}

function headerOf({ headers }: HttpExchange, wanted: string): string | undefined {
  return headers.find(([name]) => name === wanted)?.[1];
}
