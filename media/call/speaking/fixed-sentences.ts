/**
 * The sentences that an agent says in the same words in every call, as the voice is asked for them. A sentence with a
 * value in it (U+0000) is never among them, whatever stands beside it.
 */
import { piecesOf } from './sentences.ts';

export function fixedSentencesOf(fixedTexts: readonly string[]): ReadonlySet<string> {
  const fixed = new Set<string>();
  for (const text of fixedTexts)
    for (const piece of piecesOf(text)) if (!piece.text.includes('\u0000')) fixed.add(piece.text);
  return fixed;
}
