/**
 * Does a value hold at least what is expected of it? Objects by their named fields, lists whole, texts without regard
 * to capitals, a text that is written `/…/` as a regular expression. Pure.
 */
import { matches } from './bounded-match.ts';

export function isPart(expected: unknown, value: unknown): boolean {
  if (typeof expected === 'string') {
    const pattern = /^\/(.+)\/$/s.exec(expected)?.[1];
    // What is not there has no text that could fit.
    if (pattern !== undefined)
      return value !== undefined && matches(pattern, typeof value === 'string' ? value : JSON.stringify(value ?? null));
    return typeof value === 'string' ? value.toLowerCase() === expected.toLowerCase() : String(value) === expected;
  }
  if (Array.isArray(expected)) {
    return (
      Array.isArray(value) && value.length === expected.length && expected.every((one, at) => isPart(one, value[at]))
    );
  }
  if (typeof expected === 'object' && expected !== null) {
    if (typeof value !== 'object' || value === null) return false;
    return Object.entries(expected).every(([name, one]) => isPart(one, (value as Record<string, unknown>)[name]));
  }
  return expected === value;
}
