/**
 * Where in a text of JSON a path's value stands: `steps[0].replies[1].goto`. For putting the cursor at a fault.
 * Pure.
 */

/** Start and end of the value, or of the nearest one above it that is there. Null: the text is no JSON. */
export function placeOf(text: string, path: string): [start: number, end: number] | null {
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
    while (text[at] !== '"') {
      if (at >= text.length) throw new SyntaxError('an open text');
      at += text[at] === '\\' ? 2 : 1;
    }
    at++;
    return JSON.parse(text.slice(start, at)) as string;
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
      const plain = /^[-+\w.]+/.exec(text.slice(at, at + 400))?.[0];
      if (plain === undefined) throw new SyntaxError(`a value expected at ${at}`);
      at += plain.length;
    }
    if (depth >= 0 && (found === null || depth > found.depth)) found = { depth, place: [start, at] };
  };
  try {
    value(0);
  } catch {
    return null;
  }
  return (found as { place: [number, number] } | null)?.place ?? null;
}
