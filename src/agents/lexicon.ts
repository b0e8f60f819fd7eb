/**
 * The words that the local recogniser knows: the pronouncing dictionary inside the `soundswallower` package, read as a
 * data file (3 MB) when the first agent is checked. Used by `script-check.ts`; never loads the recogniser itself.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export interface Lexicon {
  /** `word` in lower case, without spaces. */
  knows(word: string): boolean;
}

export function loadLexicon(): Lexicon {
  const program = createRequire(import.meta.url).resolve('soundswallower');
  const entries = `\n${readFileSync(join(dirname(program), 'model', 'en-us', 'dict.txt'), 'utf8')}`;
  const looked = new Map<string, boolean>();
  return {
    knows(word) {
      const before = looked.get(word);
      if (before !== undefined) return before;
      // A line is `word PHONE PHONE …`; `word(2)` lists another way to say a word that is there already.
      const known = /^[^\s()]+$/.test(word) && !word.startsWith(';') && entries.includes(`\n${word} `);
      looked.set(word, known);
      return known;
    },
  };
}
