/** One text for JSON values that mean the same, to compare the bodies of two requests with one Idempotency-Key. */
import { createHash } from 'node:crypto';

export const DEEPEST_JSON = 32;

/** True when nested deeper than 32 levels: such a body is refused before anything walks it by recursion. */
export function isTooDeep(value: unknown, deepest = DEEPEST_JSON): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > deepest) return true;
    level = level.flatMap((item) =>
      typeof item === 'object' && item !== null
        ? Object.values(item).filter((inner) => typeof inner === 'object' && inner !== null)
        : [],
    );
  }
  return false;
}

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
