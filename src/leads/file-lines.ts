/**
 * The lines of a text, found as they are asked for: a file of ten million empty ones costs no list of them. It goes
 * forward, and remembers the last few, for a reader that has looked ahead and begins again. Ends of lines are `\n`,
 * `\r\n` and `\r`.
 */

/** How far back a reader may begin again. */
export const LINES_KEPT = 128;

export class FileLines {
  readonly #text: string;
  readonly #kept: string[] = [];
  #found = 0;
  /** Where the next one begins; behind the end of the text when there is none. */
  #from = 0;
  #feedAt = -1;
  #returnAt = -1;

  constructor(text: string) {
    this.#text = text;
  }

  /** Undefined: there are not so many. From 0; one of the last `LINES_KEPT` that were found, or any that come after. */
  at(index: number): string | undefined {
    while (this.#found <= index) {
      if (this.#from > this.#text.length) return undefined;
      this.#kept[this.#found++ % LINES_KEPT] = this.#next();
    }
    return this.#kept[index % LINES_KEPT];
  }

  #next(): string {
    const from = this.#from;
    if (this.#feedAt < from) this.#feedAt = this.#indexOf('\n', from);
    if (this.#returnAt < from) this.#returnAt = this.#indexOf('\r', from);
    const end = Math.min(this.#feedAt, this.#returnAt);
    this.#from = end + (end === this.#returnAt && this.#feedAt === end + 1 ? 2 : 1);
    return this.#text.slice(from, end);
  }

  #indexOf(character: string, from: number): number {
    const at = this.#text.indexOf(character, from);
    return at < 0 ? this.#text.length : at;
  }
}
