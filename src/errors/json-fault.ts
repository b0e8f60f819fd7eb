/** Where a text stops being JSON, for people who wrote it by hand. */

/**
 * `error`: what `JSON.parse` threw of `text`. Gives line and column, both from 1 on, and what is wrong there. V8 names
 * a position for most faults; for a token that does not belong it names none, so that is looked for.
 */
export function jsonFault(text: string, error: unknown): string {
  const said = (error as Error).message;
  const at = Number(/ at position (\d+)/.exec(said)?.[1] ?? placeOfToken(text));
  const before = text.slice(0, at).split('\n');
  const what = said.replace(/(?: in JSON)? at position \d+.*$/s, '').replace(/, (?:\.\.\.)?".*$/s, '');
  return `line ${before.length}, column ${before.at(-1)!.length + 1}: ${what}`;
}

/** The end of the shortest beginning in which the fault is told; of a text that only ends too early, its end. */
function placeOfToken(text: string): number {
  const isTold = (length: number): boolean => {
    try {
      JSON.parse(text.slice(0, length));
    } catch (error) {
      return (error as Error).message.startsWith('Unexpected token');
    }
    return false;
  };
  let [least, most] = [0, text.length + 1];
  while (least < most) {
    const middle = (least + most) >> 1;
    if (isTold(middle)) most = middle;
    else least = middle + 1;
  }
  return Math.max(0, Math.min(least - 1, text.length));
}
