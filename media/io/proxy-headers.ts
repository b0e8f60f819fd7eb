/**
 * What of the headers goes on, towards control and back. RFC 9110 §7.6.1 names the hop-by-hop
 * ones that stop here. Pure.
 */
import { VOUCHED_HEADER } from '../contract/vouched.ts';
import type { HeaderList, HttpExchange } from './socket-server/http-exchange.ts';

const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
/**
 * Not sent on either: `expect` was answered by us, and who asks is for us to say, in the `x-forwarded-for` that we
 * write.
 */
const OURS_TO_SAY = new Set(['expect', 'forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto']);

const LENGTH = /^\d+$/;

/** `announcedBytes` 0 when the length is not said. */
export function forwardedHeaders(exchange: HttpExchange): {
  headers: string[];
  /** False: there are two, of which nobody knows which is meant, or one that is no number. */
  isLengthClear: boolean;
  announcedBytes: number;
  hasBody: boolean;
} {
  const named = new Set<string>();
  for (const [name, value] of exchange.headers) {
    if (name === 'connection') for (const token of value.split(',')) named.add(token.trim().toLowerCase());
  }
  const headers: string[] = [];
  let lengths = 0;
  let isLengthClear = true;
  let announcedBytes = 0;
  let hasBody = false;
  for (const [name, value] of exchange.headers) {
    if (name === 'transfer-encoding') hasBody = true;
    if (name === 'content-length') {
      lengths++;
      isLengthClear = lengths === 1 && LENGTH.test(value);
      announcedBytes = Number(value);
      if (announcedBytes === 0) continue;
      hasBody = true;
    }
    if (!HOP_BY_HOP.has(name) && !OURS_TO_SAY.has(name) && !named.has(name)) headers.push(name, value);
  }
  headers.push('x-forwarded-for', exchange.remoteAddress);
  return { headers, isLengthClear, announcedBytes, hasBody };
}

export function answeredHeaders(headers: Record<string, string | string[] | undefined>): HeaderList {
  const { connection } = headers;
  const named = new Set(
    String(connection ?? '')
      .split(',')
      .map((token) => token.trim().toLowerCase()),
  );
  const list: HeaderList = [];
  for (const [name, value] of Object.entries(headers)) {
    // The socket server writes a length and a date of its own.
    if (value === undefined || name === 'content-length' || name === 'date' || name === VOUCHED_HEADER) continue;
    if (HOP_BY_HOP.has(name) || named.has(name)) continue;
    if (Array.isArray(value)) for (const one of value) list.push([name, one]);
    else list.push([name, value]);
  }
  return list;
}
