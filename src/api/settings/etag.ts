/**
 * So that two editors do not overwrite each other (RFC 9110 §13.1.1): every setting is answered with an `ETag`, and a change may
 * name in `If-Match` the state that it was made for. It is compared in the transaction that writes. Without the header the last one wins.
 */
import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { canonicalJson } from '../outbound-call/canonical-json.ts';
import { Refusal } from '../refusal.ts';

/** Of what an editor sees and may change; never of what moves by itself, such as counters. */
export function etagOf(state: unknown): string {
  const text = canonicalJson(JSON.parse(JSON.stringify(state)));
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
}

/** Undefined without the header. What comes back throws when the present state is another. */
export function expectMatch<State>(
  request: FastifyRequest,
  stateOf: (current: State) => unknown,
): ((current: State) => void) | undefined {
  const header = request.headers['if-match'];
  if (header === undefined || header.trim() === '*') return undefined;
  const wanted = header.split(',').map((tag) => tag.trim());
  return (current) => {
    const etag = etagOf(stateOf(current));
    if (!wanted.includes(etag)) throw new Refusal('precondition_failed', { headers: { etag } });
  };
}

/** An agent's tag is its version: `"7"`. */
export function versionOfMatch(request: FastifyRequest): number | undefined {
  const header = request.headers['if-match'];
  if (header === undefined || header.trim() === '*') return undefined;
  const version = /^"(\d{1,9})"$/.exec(header.trim())?.[1];
  if (version === undefined) throw new Refusal('precondition_failed');
  return Number(version);
}

export const versionTag = (version: number): string => `"${version}"`;
