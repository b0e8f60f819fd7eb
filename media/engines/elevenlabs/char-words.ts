/**
 * When the words of a text sound, made of what ElevenLabs says of its characters chunk by chunk. Times are those of the
 * whole sound, from its first sample. Pure.
 */
import type { SpokenWords, TimedWord } from '../provider/context-voice.ts';
import { sharedTimes, type WordSpan, wordSpans } from '../provider/word-spans.ts';

/** A character that is not in the text where it is looked for: it was made of another. */
const LOOK_AHEAD_CHARS = 12;

export class CharWords implements SpokenWords {
  readonly #text: string;
  readonly #words: WordSpan[];
  /** Of the next character. */
  #charAt: number;
  #wordAt = 0;
  #startMs = Number.NaN;
  #endMs = 0;
  /** End of the last word that was given. */
  #toldMs = 0;

  /** From `charStart` on. */
  constructor(text: string, charStart = 0) {
    this.#text = text;
    this.#charAt = charStart;
    this.#words = wordSpans(text, charStart);
  }

  /** All before it has begun to sound. */
  get charAt(): number {
    return this.#charAt;
  }

  /** Where to begin again, so that each word is said whole: the first whose end is not known. */
  get unsaidFrom(): number {
    return this.#words[this.#wordAt]?.charStart ?? this.#text.length;
  }

  /**
   * `atMs`: where the chunk begins in the sound. Gives the words whose end is known now. What cannot be read gives
   * none.
   */
  take(alignment: unknown, atMs: number): TimedWord[] {
    const { chars, starts, lengths } = fieldsOf(alignment);
    const known: TimedWord[] = [];
    for (let i = 0; i < chars.length; i++) {
      const [char, startMs, lengthMs] = [chars[i], starts[i], lengths[i]];
      if (typeof char !== 'string' || typeof startMs !== 'number' || typeof lengthMs !== 'number' || char === '')
        continue;
      const at = this.#text.indexOf(char, this.#charAt);
      if (at < 0 || at - this.#charAt > LOOK_AHEAD_CHARS) continue;
      this.#charAt = at + char.length;
      if (char.trim() === '') continue;
      known.push(...this.#before(at));
      if (Number.isNaN(this.#startMs)) this.#startMs = atMs + startMs;
      this.#endMs = atMs + startMs + lengthMs;
    }
    // The last character of a word is its end, whatever comes next.
    if (this.#charAt >= (this.#words[this.#wordAt]?.charEnd ?? Number.POSITIVE_INFINITY)) {
      known.push(...this.#before(Number.POSITIVE_INFINITY, 1));
    }
    return known;
  }

  /** The sound is over at `endMs`: what was not timed shares what is left. */
  finish(endMs: number): TimedWord[] {
    const fromMs = Math.max(Number.isNaN(this.#startMs) ? this.#endMs : this.#startMs, this.#toldMs);
    const known = sharedTimes(this.#words.slice(this.#wordAt), fromMs, endMs);
    this.#wordAt = this.#words.length;
    this.#charAt = this.#text.length;
    return known;
  }

  /** Words that end before this place in the text. */
  #before(charAt: number, most = Number.POSITIVE_INFINITY): TimedWord[] {
    const known: TimedWord[] = [];
    while (known.length < most && (this.#words[this.#wordAt]?.charEnd ?? Number.POSITIVE_INFINITY) <= charAt) {
      const word = this.#words[this.#wordAt++]!;
      // None begins before the one before it has ended.
      const startMs = Math.max(Number.isNaN(this.#startMs) ? this.#endMs : this.#startMs, this.#toldMs);
      this.#toldMs = Math.max(startMs, this.#endMs);
      known.push({ ...word, startMs, endMs: this.#toldMs });
      this.#startMs = Number.NaN;
    }
    return known;
  }
}

/** The service writes durations in one way and documents another. */
function fieldsOf(alignment: unknown): { chars: unknown[]; starts: unknown[]; lengths: unknown[] } {
  const fields = (alignment ?? {}) as Record<string, unknown>;
  const list = (...names: string[]): unknown[] => {
    const found = names.map((name) => fields[name]).find(Array.isArray);
    return (found as unknown[] | undefined) ?? [];
  };
  return {
    chars: list('chars'),
    starts: list('charStartTimesMs', 'charsStartTimesMs'),
    lengths: list('charDurationsMs', 'charsDurationsMs'),
  };
}
