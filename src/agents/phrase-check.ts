/** Can the local recogniser listen for this phrase? Words of its dictionary and the classes `<digits>` and `<name>`. */
import type { PathPart, Report } from '../errors/agent-faults.ts';
import type { Lexicon } from './lexicon.ts';

const CLASSES = ['<digits>', '<name>'];

/** Cut as the media plane cuts it: lower case, no punctuation but the apostrophe inside a word. */
function wordsOf(phrase: string): string[] {
  return phrase
    .toLowerCase()
    .split(/[^\p{L}\p{N}'<>]+/u)
    .filter((word) => word !== '');
}

/** Equal for phrases that sound the same to the recogniser. */
export function phraseKey(phrase: string): string {
  return wordsOf(phrase).join(' ');
}

export function checkPhrase(phrase: string, at: readonly PathPart[], lexicon: Lexicon, report: Report): void {
  const words = wordsOf(phrase);
  if (words.length === 0) report(at, `'${phrase}' holds no word; say what to listen for`);
  for (const word of new Set(words)) {
    if (CLASSES.includes(word)) continue;
    if (/[<>]/.test(word)) report(at, `'${word}' is no class; there are ${CLASSES.join(' and ')}, set apart by spaces`);
    else if (/[0-9]/.test(word)) report(at, `'${word}' holds a digit; write it as it is spoken, or use <digits>`);
    else if (!lexicon.knows(word)) {
      report(
        at,
        `the recogniser does not know the word '${word}'; use another, or spell it as words that sound like it`,
      );
    }
  }
}
