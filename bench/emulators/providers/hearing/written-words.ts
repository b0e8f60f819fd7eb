/**
 * How heard words are written: as in the phrase of the vocabulary that they are, with its capitals and marks. Pure. The
 * decoder knows words in lower case only.
 */
import type { TimedWord } from '../../../../media/engines/local/rejection.ts';
import { clausesOf } from '../looped-grammar.ts';

export interface WrittenWord extends TimedWord {
  written: string;
}

/** The longest phrase that fits is taken; a word outside of any phrase stays as it was heard. */
export function writtenWords(words: readonly TimedWord[], phrases: readonly string[]): WrittenWord[] {
  const forms = phrases
    .flatMap(clausesOf)
    .map((phrase) => phrase.trim().split(/\s+/))
    .map((written) => ({ written, bare: written.map(bareOf) }))
    .sort((a, b) => b.bare.length - a.bare.length);
  const out: WrittenWord[] = [];
  for (let at = 0; at < words.length; ) {
    const form = forms.find(({ bare }) => bare.every((word, i) => words[at + i]?.word === word));
    const count = form?.bare.length ?? 1;
    for (let i = 0; i < count; i++) {
      const word = words[at + i]!;
      out.push({ ...word, written: form?.written[i] ?? word.word });
    }
    at += count;
  }
  return out;
}

function bareOf(written: string): string {
  return written
    .toLowerCase()
    .replaceAll('’', "'")
    .replace(/^[^a-z']+|[^a-z']+$/g, '');
}
