/**
 * Text of a model, bit by bit, handed on as soon as it may be spoken: by clauses, so that neither a number nor a date
 * nor a link is torn. The voice begins with the first clause while the rest is still being written. Pure; times are ms.
 */

/** Without a boundary it may go out up to a blank, once so much has come and nothing more for so long. */
const LONG_CHARS = 40;
const STALE_MS = 250;
/** A bracket that never closes holds nothing back for longer. */
const LONGEST_LINK = 300;

const BOUNDARY = /[.!?…]+["'”’)\]]*\s|[,;:–—]\s|\n|[。！？、，；：]/gu;

export class ClauseCutter {
  #rest = '';
  #changedAtMs = 0;

  /** What may be spoken now; it joins what was given before. */
  push(text: string, atMs: number): string {
    if (text === '') return '';
    this.#rest += text;
    this.#changedAtMs = atMs;
    return this.#take(this.#boundary());
  }

  /** At each tick: a model that pauses in mid-sentence. */
  tick(atMs: number): string {
    if (this.#rest.length < LONG_CHARS || atMs - this.#changedAtMs < STALE_MS) return '';
    return this.#take(this.#blank());
  }

  /** No more comes. */
  flush(): string {
    return this.#take(this.#rest.length);
  }

  #take(chars: number): string {
    const taken = this.#rest.slice(0, chars);
    this.#rest = this.#rest.slice(chars);
    return taken;
  }

  /** Behind the last boundary that lies in no link. */
  #boundary(): number {
    const limit = openLinkAt(this.#rest);
    let end = 0;
    for (const match of this.#rest.matchAll(BOUNDARY)) {
      const after = match.index + match[0].length;
      if (after > limit) break;
      // "March 3, 2026" and "5, 6": the comma belongs to what is read as one.
      const isBehindNumber = /[,:]\s$/.test(match[0]) && /\d$/.test(this.#rest.slice(0, match.index));
      if (!isBehindNumber || /\D/.test(this.#rest.charAt(after))) end = after;
    }
    return end;
  }

  /** The last blank with plain words to both sides. */
  #blank(): number {
    const limit = openLinkAt(this.#rest);
    for (let at = this.#rest.lastIndexOf(' ', limit - 1); at > 0; at = this.#rest.lastIndexOf(' ', at - 1)) {
      const before = /\S+$/.exec(this.#rest.slice(0, at))?.[0] ?? '';
      const after = /^\S+/.exec(this.#rest.slice(at + 1))?.[0] ?? '';
      if (/^\p{L}+$/u.test(before) && /^\p{L}/u.test(after)) return at + 1;
    }
    return 0;
  }
}

/** Where a link begins that has not ended; the text's length where there is none. */
function openLinkAt(text: string): number {
  const at = text.lastIndexOf('[');
  if (at < 0 || text.length - at > LONGEST_LINK) return text.length;
  return /^\[[^\]]*\](\([^)]*\)|[^(]|$)/.test(text.slice(at)) && !/^\[[^\]]*\]\($/.test(text.slice(at))
    ? text.length
    : at;
}
