/** Words of a result of Deepgram's, by either protocol. Pure. */
import { plainOf, type ToldWord } from '../provider/hearing/told-words.ts';

/** `audioMs` makes audio time of the socket's own. What is no word is left out. */
export function wordsIn(said: unknown, audioMs: (streamMs: number) => number): ToldWord[] {
  if (!Array.isArray(said)) return [];
  const words: ToldWord[] = [];
  for (const one of said) {
    const { word, punctuated_word: written = word, start, end, confidence } = (one ?? {}) as Record<string, unknown>;
    if (typeof word !== 'string' || typeof start !== 'number' || typeof end !== 'number') continue;
    const plain = plainOf(word);
    if (plain === '' || !(end >= start)) continue;
    words.push({
      plain,
      text: typeof written === 'string' ? written : word,
      startMs: audioMs(start * 1_000),
      endMs: audioMs(end * 1_000),
      confidence: typeof confidence === 'number' ? confidence : 0,
    });
  }
  return words;
}
