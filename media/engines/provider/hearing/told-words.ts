/** Words as ears of providers tell them, in audio time. Pure. */
import type { HeardWord } from '../../../contract/ear.ts';

export interface ToldWord extends HeardWord {
  /** In lower case, without marks. */
  plain: string;
  confidence: number;
}

export function textOf(words: readonly ToldWord[]): string {
  return words.map(({ plain }) => plain).join(' ');
}

/** 0 to 1, whatever the provider's numbers are; undefined of nothing. */
export function confidenceOf(words: readonly ToldWord[]): number | undefined {
  if (words.length === 0) return undefined;
  return words.reduce((sum, { confidence }) => sum + Math.min(1, Math.max(0, confidence)), 0) / words.length;
}

/** In lower case, without the marks around it; empty: it is no word. */
export function plainOf(word: string): string {
  return word
    .toLowerCase()
    .replaceAll('’', "'")
    .replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
}

/**
 * A word's moments, as a provider told them: ms of its stream, or seconds by `unitMs` 1,000; audio time, `NaN` where it
 * told none. Nothing ends where the stream begins: such a word has no time, else it would be one of what is done with.
 */
export function spanOf(
  start: unknown,
  end: unknown,
  unitMs: number,
  audioMs: (streamMs: number) => number,
): Pick<HeardWord, 'startMs' | 'endMs'> {
  const isNowhere = typeof end === 'number' && end <= 0;
  const at = (told: unknown): number => (typeof told === 'number' && !isNowhere ? audioMs(told * unitMs) : Number.NaN);
  return { startMs: at(start), endMs: at(end) };
}

/**
 * Words as a provider told them, `NaN` where it told no time: none begins before the one before it has ended, and none
 * ends before it begins, so that no word is lost for its times alone. Without a time the first sounded at `untimedMs`.
 */
export function inOrder(words: readonly ToldWord[], untimedMs: number): ToldWord[] {
  let atMs = Number.isNaN(words[0]?.startMs) ? untimedMs : Number.NEGATIVE_INFINITY;
  return words.map((word) => {
    const startMs = Number.isNaN(word.startMs) ? atMs : Math.max(word.startMs, atMs);
    atMs = Number.isNaN(word.endMs) ? startMs : Math.max(word.endMs, startMs);
    return { ...word, startMs, endMs: atMs };
  });
}

export function middleOf({ startMs, endMs }: HeardWord): number {
  return (startMs + endMs) / 2;
}

/** For the call: none begins before the one before it has ended, whatever the provider says. */
export function timesOf(words: readonly ToldWord[]): HeardWord[] {
  let fromMs = Number.NEGATIVE_INFINITY;
  return words.map(({ text, startMs, endMs }) => {
    const atMs = Math.max(startMs, fromMs);
    fromMs = Math.max(endMs, atMs);
    return { text, startMs: atMs, endMs: fromMs };
  });
}
