/**
 * When each word of synthesised speech sounds. The local voice gives no word times, so the words of a chunk share its
 * voiced part in proportion to their syllables; silence before and after is left out. The transcript's heard text and
 * the place to go on after a pause are read from here. Pure.
 */

export interface SpokenWord {
  /** Range of the word in the whole text, with its punctuation. */
  charStart: number;
  charEnd: number;
  /** Ms from the start of the utterance's audio. */
  startMs: number;
  endMs: number;
}

const SILENCE_WINDOW_MS = 10;
/** Peak of a 10 ms window under which it counts as silence: -42 dBFS. */
const SILENCE_PEAK = 260;

/** First and past-the-last voiced sample, to 10 ms; both 0 when all is silence. */
export function voicedSpan(monoSamples: Int16Array, rateHz: number): { start: number; end: number } {
  const windowSamples = Math.max(1, Math.round((rateHz * SILENCE_WINDOW_MS) / 1000));
  let first = -1;
  let last = -1;
  for (let from = 0; from < monoSamples.length; from += windowSamples) {
    const to = Math.min(from + windowSamples, monoSamples.length);
    for (let i = from; i < to; i++) {
      if (Math.abs(monoSamples[i]!) < SILENCE_PEAK) continue;
      if (first < 0) first = from;
      last = to;
      break;
    }
  }
  return first < 0 ? { start: 0, end: 0 } : { start: first, end: last };
}

/** Adds the words of `text.slice(charStart, charEnd)`, which sound from `startMs` to `endMs`. */
export function addWords(
  table: SpokenWord[],
  text: string,
  charStart: number,
  charEnd: number,
  startMs: number,
  endMs: number,
): void {
  const words = [...text.slice(charStart, charEnd).matchAll(/\S+/g)];
  let total = 0;
  for (const word of words) total += weightOf(word[0]);
  let passed = 0;
  for (const word of words) {
    const from = startMs + ((endMs - startMs) * passed) / total;
    passed += weightOf(word[0]);
    const to = startMs + ((endMs - startMs) * passed) / total;
    const at = charStart + word.index;
    table.push({ charStart: at, charEnd: at + word[0].length, startMs: from, endMs: to });
  }
}

/** Syllables, roughly: groups of vowels, a digit for one and a half; a little for each letter. */
function weightOf(word: string): number {
  const lower = word.toLowerCase();
  const vowels = lower.replace(/([^aeiouy])e$/, '$1').match(/[aeiouy]+/g)?.length ?? 0;
  const digits = lower.match(/[0-9]/g)?.length ?? 0;
  return Math.max(1, vowels + digits * 1.5) + lower.length * 0.1;
}
