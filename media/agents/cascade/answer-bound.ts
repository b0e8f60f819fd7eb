/**
 * How much of an answer is said: a model that repeats itself is stopped at the first repetition that shows it, one that
 * goes on for ever at the end of a sentence. Given the whole text so far; pure.
 */

/** Times that the same sentence, or the same run of words, stands in one answer. */
const MOST_TIMES = 3;
/** Longest run of words that is looked for. */
const LONGEST_RUN = 12;
/** Runs of one or two words must be told more often: "no, no, no" is said by people. */
const SHORT_RUN_TIMES = 6;
const SENTENCE = /[^.!?。！？\n]+[.!?。！？\n]*/gu;

export type Stopped = { chars: number; why: 'repeats' | 'too_long' };

/** Null: all of it may be said. `chars`: of the text, from its start. */
export function boundOf(text: string, mostChars: number): Stopped | null {
  return repetition(text) ?? tooLong(text, mostChars);
}

function repetition(text: string): Stopped | null {
  const counts = new Map<string, number>();
  for (const match of text.matchAll(SENTENCE)) {
    const key = wordsOf(match[0]).join(' ');
    if (key.split(' ').length < 2) continue;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count >= MOST_TIMES) return { chars: match.index, why: 'repeats' };
  }
  const words = [...text.matchAll(/[\p{L}\p{N}']+/gu)];
  for (let run = 1; run <= LONGEST_RUN; run++) {
    const times = run <= 2 ? SHORT_RUN_TIMES : MOST_TIMES + 1;
    if (words.length < run * times) break;
    const tail = words.slice(-run * times).map(([word]) => word.toLowerCase());
    // "1 1 1 1 1 1" may be a number that is read out.
    if (tail.every((word, at) => word === tail[at % run]) && tail.some((word) => !/^\d/.test(word))) {
      const first = words[words.length - run * times + run]!;
      return { chars: first.index, why: 'repeats' };
    }
  }
  return null;
}

function tooLong(text: string, mostChars: number): Stopped | null {
  if (text.length <= mostChars) return null;
  let end = 0;
  for (const match of text.slice(0, mostChars).matchAll(/[.!?。！？]+["')\]]*(?=\s|$)/gu))
    end = match.index + match[0].length;
  if (end === 0) end = Math.max(0, text.lastIndexOf(' ', mostChars));
  return { chars: end === 0 ? mostChars : end, why: 'too_long' };
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
}
