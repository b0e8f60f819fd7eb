/** Words of a text that is spoken, and when they sound where nobody said it. For the clocks of voices. Pure. */
import type { TimedWord } from './context-voice.ts';

/** Where a word stands in the whole text, in UTF-16 units. */
export type WordSpan = Pick<TimedWord, 'charStart' | 'charEnd'>;

/** Of the text from `charStart` on. */
export function wordSpans(text: string, charStart: number): WordSpan[] {
  return [...text.slice(charStart).matchAll(/\S+/g)].map((match) => ({
    charStart: charStart + match.index,
    charEnd: charStart + match.index + match[0].length,
  }));
}

/** Each has its share of the time by its characters; where it runs backwards, none. */
export function sharedTimes(words: readonly WordSpan[], fromMs: number, untilMs: number): TimedWord[] {
  const chars = words.reduce((sum, { charStart, charEnd }) => sum + charEnd - charStart, 0);
  let atMs = fromMs;
  return words.map(({ charStart, charEnd }) => {
    const startMs = atMs;
    atMs += (Math.max(0, untilMs - fromMs) * (charEnd - charStart)) / chars;
    return { charStart, charEnd, startMs, endMs: atMs };
  });
}
