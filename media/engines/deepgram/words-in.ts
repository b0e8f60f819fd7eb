/** Words of a result of Deepgram's, by either protocol. Pure. */
import { inOrder, plainOf, spanOf, type ToldWord } from '../provider/hearing/told-words.ts';

/** `audioMs` makes audio time of the socket's own, `untilMs` is where the result ends. What is no word is left out. */
export function wordsIn(said: unknown, audioMs: (streamMs: number) => number, untilMs: number): ToldWord[] {
  if (!Array.isArray(said)) return [];
  const words: ToldWord[] = [];
  for (const one of said) {
    const { word, punctuated_word: written = word, start, end, confidence } = (one ?? {}) as Record<string, unknown>;
    const plain = typeof word === 'string' ? plainOf(word) : '';
    if (plain === '') continue;
    words.push({
      plain,
      text: typeof written === 'string' ? written : String(word),
      ...spanOf(start, end, 1_000, audioMs),
      confidence: typeof confidence === 'number' ? confidence : 0,
    });
  }
  return inOrder(words, untilMs);
}
