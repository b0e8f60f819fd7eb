/**
 * The paths of a tool's `responseVariables`: names and places in a JSON value, nothing that computes. Pure; never
 * throws on a value.
 *
 *   $.order.lines[0].title     order.lines[0].title     $['order']["delivery date"]     $  (all of it)
 */

const MOST_PARTS = 32;
const FIRST = /^(?:\$|(?=\[))|^[A-Za-z_][A-Za-z0-9_-]*/;
const PART = /\.([A-Za-z_][A-Za-z0-9_-]*)|\[(\d{1,6})\]|\['([^'\\]+)'\]|\["([^"\\]+)"\]/y;

export type JsonPath = readonly (string | number)[];

/** Null when the text is no such path. */
export function parseJsonPath(text: string): JsonPath | null {
  const first = FIRST.exec(text);
  if (first === null) return null;
  const parts: (string | number)[] = first[0] === '$' || first[0] === '' ? [] : [first[0]];
  PART.lastIndex = first[0].length;
  while (PART.lastIndex < text.length) {
    const match = PART.exec(text);
    if (match === null || parts.length >= MOST_PARTS) return null;
    const [, name, index, single, double] = match;
    parts.push(index === undefined ? (name ?? single ?? double ?? '') : Number(index));
  }
  return parts;
}

/** Undefined where the path leads nowhere. Only own properties count. */
export function readJsonPath(value: unknown, path: JsonPath): unknown {
  let at = value;
  for (const part of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return undefined;
    at = (at as Record<string | number, unknown>)[part];
  }
  return at;
}
