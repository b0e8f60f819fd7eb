/**
 * How words are pronounced: soundswallower's packaged dictionary (CMU, 134,000 English words, US pronunciation), read
 * once. Called by the grammar compiler. It is kept as one string (3.3 MB) and searched, since a grammar asks for few
 * words: a map would take ten times the memory.
 */
import { readFile } from 'node:fs/promises';
import { modelFolder } from './soundswallower-module.ts';

export interface Lexicon {
  /**
   * Pronunciations in ARPAbet (`Y EH S`), the usual one first; empty when the word is unknown. Words are lower case.
   */
  pronunciationsOf(word: string): readonly string[];
}

export async function loadLexicon(): Promise<Lexicon> {
  return createLexicon(await readFile(`${modelFolder()}en-us/dict.txt`, 'latin1'));
}

/**
 * `dictionary` has a word and its sounds on each line, further pronunciations as `word(2)`; its order does not matter.
 */
export function createLexicon(dictionary: string): Lexicon {
  const text = `${dictionary}\n`;
  const ranges = rangesByBeginning(text);
  const found = new Map<string, readonly string[]>();

  function lookUp(word: string): readonly string[] {
    const range = ranges.get(beginningOf(word));
    if (range === undefined) return [];
    const lines = `\n${text.slice(range.from, range.to)}`;
    const pronunciations: string[] = [];
    for (let variant = 1; ; variant++) {
      const head = variant === 1 ? `\n${word} ` : `\n${word}(${variant}) `;
      const at = lines.indexOf(head);
      if (at === -1) return pronunciations;
      pronunciations.push(lines.slice(at + head.length, lines.indexOf('\n', at + head.length)).trim());
    }
  }

  return {
    pronunciationsOf(word) {
      let pronunciations = found.get(word);
      if (pronunciations === undefined) {
        pronunciations = /^[a-z'][a-z'.-]*$/.test(word) ? lookUp(word) : [];
        if (pronunciations.length > 0) found.set(word, pronunciations);
      }
      return pronunciations;
    },
  };
}

/** The words that begin with the same two letters lie together in the file, some 6 kB of it. */
function beginningOf(word: string): string {
  return word.slice(0, 2);
}

function rangesByBeginning(text: string): Map<string, { from: number; to: number }> {
  const ranges = new Map<string, { from: number; to: number }>();
  for (let from = 0; from < text.length; ) {
    const to = text.indexOf('\n', from) + 1;
    const beginning = text.slice(from, Math.min(from + 2, to - 1)).replace(/[ (]$/, '');
    const range = ranges.get(beginning);
    if (range === undefined) ranges.set(beginning, { from, to });
    else range.to = to;
    from = to;
  }
  return ranges;
}
