/**
 * Where in a text of JSON a path's value stands: `steps[0].replies[1].goto`. For putting the cursor at a fault; and
 * where a text stops being JSON, which not every browser tells.
 * Pure.
 */

/** Start and end of the value, or of the nearest one above it that is there. Null: the text is no JSON. */
export function placeOf(text: string, path: string): [start: number, end: number] | null {
  const { place, faultAt } = walk(text, path);
  return faultAt === null ? place : null;
}

/** Both from 1. Null: the text is JSON. */
export function faultPlace(text: string): { line: number; column: number } | null {
  const { faultAt } = walk(text, '');
  if (faultAt === null) return null;
  const before = text.slice(0, faultAt).split('\n');
  return { line: before.length, column: before.at(-1)!.length + 1 };
}

const PLAIN = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)(?![-+\w.])/;

function walk(text: string, path: string): { place: [start: number, end: number] | null; faultAt: number | null } {
  const wanted = path
    .replaceAll(/\[(\d+)\]/g, '.$1')
    .split('.')
    .filter(Boolean);
  let found: { depth: number; place: [number, number] } | null = null;
  let at = 0;
  const blank = (): void => {
    while (/\s/.test(text[at] ?? '')) at++;
  };
  const expect = (sign: string): void => {
    if (text[at] !== sign) throw new SyntaxError(`${sign} expected at ${at}`);
    at++;
  };
  const word = (): string => {
    const start = at;
    expect('"');
    while (text[at] !== '"' && at < text.length) at += text[at] === '\\' ? 2 : 1;
    at++;
    try {
      return JSON.parse(text.slice(start, at)) as string;
    } catch (error) {
      // An open text, a sign that may not stand in one: it is at fault from its beginning.
      at = start;
      throw error;
    }
  };
  /** `depth`: how many words of the path lead here; -1: it is off the path. */
  const value = (depth: number): void => {
    blank();
    const start = at;
    const next = (key: string): number => (depth >= 0 && wanted[depth] === key ? depth + 1 : -1);
    if (text[at] === '{' || text[at] === '[') {
      const isObject = text[at] === '{';
      const close = isObject ? '}' : ']';
      at++;
      blank();
      for (let index = 0; text[at] !== close; index++) {
        if (index > 0) expect(',');
        blank();
        const key = isObject ? word() : String(index);
        if (isObject) {
          blank();
          expect(':');
        }
        value(next(key));
        blank();
      }
      at++;
    } else if (text[at] === '"') word();
    else {
      const plain = PLAIN.exec(text.slice(at, at + 400))?.[0];
      if (plain === undefined) throw new SyntaxError(`a value expected at ${at}`);
      at += plain.length;
    }
    if (depth >= 0 && (found === null || depth > found.depth)) found = { depth, place: [start, at] };
  };
  try {
    value(0);
    blank();
    if (at < text.length) throw new SyntaxError(`more after the value, at ${at}`);
  } catch {
    return { place: null, faultAt: Math.min(at, text.length) };
  }
  return { place: (found as { place: [number, number] } | null)?.place ?? null, faultAt: null };
}
