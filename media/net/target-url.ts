/**
 * What a URL that a user gave must look like, judged without a network: when it is saved (`src/webhooks/endpoint.ts`) and
 * again before each request (`guarded-client.ts`). Where its name leads is judged at dial time only.
 */
import { isIP } from 'node:net';
import type { AddressGuard } from './address-guard.ts';

export const MAX_URL_CHARACTERS = 2_048;

export type TargetUrl = { ok: true; url: URL; literalAddress: string | null } | { ok: false; problem: string };

/** `problem` completes the sentence "The URL …". Without a guard only the form is judged. */
export function parseTargetUrl(text: string, guard: AddressGuard | null): TargetUrl {
  const refuse = (problem: string): TargetUrl => ({ ok: false, problem });
  if (text.length > MAX_URL_CHARACTERS) return refuse(`is longer than ${MAX_URL_CHARACTERS} characters`);
  if (!URL.canParse(text)) return refuse('is not a URL; write it like https://example.com/hooks/calls');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return refuse(`must begin with https:// (not ${url.protocol})`);
  }
  if (url.username !== '' || url.password !== '') {
    return refuse('must not hold a user name or password; verify the signature of each request instead');
  }
  if (url.hostname === '') return refuse('has no host; write it like https://example.com/hooks/calls');
  const literalAddress = literalAddressOf(url);
  if (guard !== null && literalAddress !== null) {
    const refusal = guard.refusal(literalAddress);
    if (refusal !== null) return refuse(`leads nowhere that may be reached: ${refusal}`);
    if (url.protocol === 'http:' && !guard.isAllowedByOperator(literalAddress)) return refuse(plainHttpProblem(guard));
  }
  return { ok: true, url, literalAddress };
}

export function plainHttpProblem(guard: AddressGuard): string {
  return `must begin with https://; plain http is spoken only inside the ranges of ${guard.setting}`;
}

/** WHATWG URL has already turned `0x7f.1`, `2130706433` or full-width digits into dotted form, and puts IPv6 in brackets. */
export function literalAddressOf(url: URL): string | null {
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  return isIP(host) === 0 ? null : host;
}
