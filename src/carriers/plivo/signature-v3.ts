/**
 * Plivo's V3 request signature: HMAC-SHA256 over the public URL, the sorted parameters and a nonce. Callbacks and the
 * media socket's upgrade request carry it. Called by the Plivo carrier for each of them, and by the carrier emulator to
 * sign; it must never take longer for a nearly right signature than for a wrong one.
 *
 *   GET   url-without-query ? sorted k=v&…  . nonce
 *   POST url-without-query ? sorted k=v&… . sorted key+value . nonce (the first dot only when both sides are there)
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

const SIGNATURE_HEADERS = ['x-plivo-signature-v3', 'x-plivo-signature-ma-v3'] as const;
const NONCE_HEADER = 'x-plivo-signature-v3-nonce';
/** More than Plivo ever sends; bounds the work that a forged header can ask for. */
const MAX_SIGNATURES = 8;

export interface SignedRequest {
  method: 'GET' | 'POST';
  /** Full public URL with its query, port and scheme as dialled; a fragment is left out of the signature. */
  url: string;
  /** Decoded form parameters of a POST; for a GET they stand in the URL already. */
  params: Readonly<Record<string, string>>;
}

/** The base64 signature, e.g. `FzqJRlcub7Qx36njMO0EzSkWJjBwCVxBfa88LNYbp7Q=`. */
export function signV3(authToken: string, request: SignedRequest, nonce: string): string {
  return hmacV3(authToken, request, nonce).toString('base64');
}

/** As the carrier signed a request that `verifyV3` let through; its nonce tells it from all others. */
export function signatureOf(
  authToken: string,
  request: SignedRequest,
  headers: Readonly<Record<string, string | undefined>>,
): string {
  return signV3(authToken, request, headers[NONCE_HEADER] ?? '');
}

/**
 * True when any comma-separated signature of either header was made with `authToken`. The second header is signed with
 * the main account's token: it matches when the line's credentials are the main account's and the number is a
 * subaccount's.
 */
export function verifyV3(
  authToken: string,
  request: SignedRequest,
  headers: Readonly<Record<string, string | undefined>>,
): boolean {
  const nonce = headers[NONCE_HEADER];
  if (authToken === '' || nonce === undefined || nonce === '') return false;
  let expected: Buffer | null = null;
  for (const name of SIGNATURE_HEADERS) {
    const value = headers[name];
    if (value === undefined) continue;
    for (const candidate of value.split(',', MAX_SIGNATURES)) {
      const given = Buffer.from(candidate.trim(), 'base64');
      expected ??= hmacV3(authToken, request, nonce);
      if (given.length === expected.length && timingSafeEqual(given, expected)) return true;
    }
  }
  return false;
}

/**
 * The upgrade request of a media socket is signed as a GET. Plivo's SDK signs the `https` form and its documentation
 * the dialled `wss` form, so both count; `http` and `ws` are the same pair without TLS.
 */
export function verifyUpgradeV3(
  authToken: string,
  url: string,
  headers: Readonly<Record<string, string | undefined>>,
): boolean {
  const schemeEnd = url.indexOf('://');
  if (schemeEnd < 0) return false;
  const scheme = url.slice(0, schemeEnd).toLowerCase();
  const schemes = scheme === 'https' || scheme === 'wss' ? ['https', 'wss'] : ['http', 'ws'];
  for (const candidate of schemes) {
    const signed: SignedRequest = { method: 'GET', url: candidate + url.slice(schemeEnd), params: {} };
    if (verifyV3(authToken, signed, headers)) return true;
  }
  return false;
}

function hmacV3(authToken: string, request: SignedRequest, nonce: string): Buffer {
  return createHmac('sha256', authToken)
    .update(`${textToSign(request)}.${nonce}`, 'utf8')
    .digest();
}

function textToSign({ method, url, params }: SignedRequest): string {
  const fragment = url.indexOf('#');
  const whole = fragment < 0 ? url : url.slice(0, fragment);
  const queryStart = whole.indexOf('?');
  const base = queryStart < 0 ? whole : whole.slice(0, queryStart);
  const query = queryStart < 0 ? [] : [...new URLSearchParams(whole.slice(queryStart + 1))];
  const fields = Object.entries(params);
  if (method === 'GET') {
    const all = joined([...query, ...fields], '=', '&');
    return all === '' ? base : `${base}?${all}`;
  }
  const queryText = joined(query, '=', '&');
  if (fields.length === 0) return queryText === '' ? base : `${base}?${queryText}`;
  // The question mark stays even without a query when there is a body.
  return `${base}?${queryText}${queryText === '' ? '' : '.'}${joined(fields, '', '')}`;
}

/** Sorted by key, then by value, in UTF-16 order. */
function joined(pairs: [string, string][], between: string, separator: string): string {
  return pairs
    .sort(([keyA, valueA], [keyB, valueB]) => compare(keyA, keyB) || compare(valueA, valueB))
    .map(([key, value]) => key + between + value)
    .join(separator);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
