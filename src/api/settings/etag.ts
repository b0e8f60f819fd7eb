/**
 * So that two editors do not overwrite each other (RFC 9110 §13.1.1): every setting is answered with an `ETag`, and a
 * change may name in `If-Match` the state that it was made for. It is compared in the transaction that writes. Without
 * the header the last one wins.
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
  return expectTag(request, (current) => etagOf(stateOf(current)));
}

/** The same for what makes its tags in its own way. */
export function expectTag<State>(
  request: FastifyRequest,
  tagOf: (current: State) => string,
): ((current: State) => void) | undefined {
  const header = request.headers['if-match'];
  if (header === undefined || header.trim() === '*') return undefined;
  const wanted = header.split(',').map((tag) => tag.trim());
  return (current) => {
    const etag = tagOf(current);
    if (!wanted.includes(etag)) throw new Refusal('precondition_failed', { headers: { etag } });
  };
}

/** An agent's tag is its version, and where it has a line of its own that too: `"7"`, `"7-0199f0a2-…"`. */
export const agentTag = ({ version, lineId }: { version: number; lineId: string | null }): string =>
  lineId === null ? `"${version}"` : `"${version}-${lineId}"`;

/** What a change of the definition is made for is the version alone. */
export function versionOfMatch(request: FastifyRequest): number | undefined {
  const header = request.headers['if-match'];
  if (header === undefined || header.trim() === '*') return undefined;
  const version = /^"(\d{1,9})(?:-[0-9a-f-]{36})?"$/.exec(header.trim())?.[1];
  if (version === undefined) throw new Refusal('precondition_failed');
  return Number(version);
}
