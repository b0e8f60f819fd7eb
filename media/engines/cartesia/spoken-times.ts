/**
 * When the words of a text sound, made of the words and times that come beside the sound. Words that come ahead of
 * their sound wait for it; times that run backwards are put in order; what was not timed shares the time between its
 * neighbours. Times are those of the whole sound, from its first sample. Pure.
 */
import type { SpokenWords, TimedWord } from '../provider/context-voice.ts';
import { sharedTimes, type WordSpan, wordSpans } from '../provider/word-spans.ts';

/** Words of the text that may have been left out, or written otherwise, before the one that is told. */
const LOOK_AHEAD_WORDS = 4;

interface TextWord extends WordSpan {
  bare: string;
}

export class SpokenTimes implements SpokenWords {
  readonly #text: string;
  readonly #words: TextWord[];
  /** Of the next word that has no times. */
  #at = 0;
  /** Timed, and not given yet: their sound has not come. */
  #ahead: TimedWord[] = [];
  /** End of the last word that has times. */
  #endMs = 0;
  /** Told words that are not in the text, since the last that is. */
  #strangeFromMs = Number.NaN;
  #charAt: number;
  #given = 0;

  /** From `charStart` on. */
  constructor(text: string, charStart = 0) {
    this.#text = text;
    this.#charAt = charStart;
    this.#words = wordSpans(text, charStart).map((span) => ({
      ...span,
      bare: bareOf(text.slice(span.charStart, span.charEnd)),
    }));
  }

  get charAt(): number {
    return this.#charAt;
  }

  get unsaidFrom(): number {
    return this.#words[this.#given]?.charStart ?? this.#text.length;
  }

  take(timing: unknown, _atMs: number, endMs: number): TimedWord[] {
    const { words, start, end } = (timing ?? {}) as { words?: unknown; start?: unknown; end?: unknown };
    if (Array.isArray(words) && Array.isArray(start) && Array.isArray(end))
      for (const [i, word] of words.entries()) this.#told(word, start[i], end[i]);
    const sounded = this.#ahead.findIndex((word) => word.endMs > endMs);
    return this.#give(sounded < 0 ? this.#ahead.length : sounded);
  }

  finish(endMs: number): TimedWord[] {
    const known = this.#ahead.map((word) => ({
      ...word,
      startMs: Math.min(word.startMs, endMs),
      endMs: Math.min(word.endMs, endMs),
    }));
    this.#ahead = known;
    this.#endMs = Math.min(this.#endMs, endMs);
    this.#share(this.#words.length, Math.max(endMs, this.#endMs));
    const all = this.#give(this.#ahead.length);
    this.#charAt = this.#text.length;
    return all;
  }

  #told(word: unknown, startS: unknown, endS: unknown): void {
    if (typeof word !== 'string' || typeof startS !== 'number' || typeof endS !== 'number') return;
    const bare = bareOf(word);
    if (bare === '') return;
    // No word begins before the one before it has ended.
    const startMs = Math.max(startS * 1_000, this.#endMs);
    const endMs = Math.max(endS * 1_000, startMs + 1);
    const found = this.#words.slice(this.#at, this.#at + LOOK_AHEAD_WORDS).findIndex((one) => one.bare === bare);
    if (found < 0) {
      // A number that is spoken in words: they are the time of the text's word before the next that is known.
      if (Number.isNaN(this.#strangeFromMs)) this.#strangeFromMs = startMs;
      return;
    }
    if (found > 0) this.#share(this.#at + found, startMs);
    const { charStart, charEnd } = this.#words[this.#at++]!;
    this.#ahead.push({ charStart, charEnd, startMs, endMs });
    this.#endMs = endMs;
    this.#strangeFromMs = Number.NaN;
  }

  /** Words up to this one have no times of their own: they share what lies between their neighbours. */
  #share(toWord: number, untilMs: number): void {
    const fromMs = Number.isNaN(this.#strangeFromMs) ? this.#endMs : Math.min(this.#strangeFromMs, untilMs);
    this.#ahead.push(...sharedTimes(this.#words.slice(this.#at, toWord), fromMs, untilMs));
    this.#at = toWord;
    this.#endMs = Math.max(this.#endMs, untilMs);
  }

  #give(count: number): TimedWord[] {
    const given = this.#ahead.splice(0, count);
    this.#given += given.length;
    this.#charAt = given.at(-1)?.charEnd ?? this.#charAt;
    return given;
  }
}

function bareOf(word: string): string {
  return word
    .toLowerCase()
    .replaceAll('’', "'")
    .replace(/[^\p{L}\p{N}']+/gu, '');
}
