/** One text for JSON values that mean the same, to compare the bodies of two requests with one Idempotency-Key. */
import { createHash } from 'node:crypto';

/** Keys sorted, no spaces. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
    return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

export function bodySha256(body: unknown): Buffer {
  return createHash('sha256').update(canonicalJson(body)).digest();
}
