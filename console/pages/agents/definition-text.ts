/**
 * A definition as people read it: what it is first, then what it says. The service keeps keys in an order of its own,
 * which means nothing. Pure.
 */

const FIRST = [
  ...['kind', 'schema', 'id', 'name', 'description', 'direction', 'language', 'otherLanguages', 'voice'],
  ...['script', 'greeting', 'firstMessage', 'say', 'clip', 'text', 'expect', 'intent', 'phrases', 'set', 'replies'],
  ...['connection', 'engine', 'model', 'steps', 'think', 'listen', 'speak', 'tools', 'tool'],
];

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  const rank = (key: string): number => (FIRST.includes(key) ? FIRST.indexOf(key) : FIRST.length);
  const entries = Object.entries(value).toSorted(([a], [b]) => rank(a) - rank(b));
  return Object.fromEntries(entries.map(([key, inner]) => [key, ordered(inner)]));
}

export const asText = (definition: unknown): string => JSON.stringify(ordered(definition), null, 2);
