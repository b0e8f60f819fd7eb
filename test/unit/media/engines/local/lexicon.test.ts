import { expect, it } from 'vitest';
import { FIRST_NAMES } from '../../../../../media/engines/local/first-names.ts';
import { DIGIT_WORDS } from '../../../../../media/engines/local/grammar.ts';
import { createLexicon, loadLexicon } from '../../../../../media/engines/local/lexicon.ts';

const lexicon = await loadLexicon();

it('knows every digit word and each of at least 200 first names', () => {
  expect(FIRST_NAMES.length).toBeGreaterThanOrEqual(200);
  expect(new Set(FIRST_NAMES).size).toBe(FIRST_NAMES.length);
  for (const word of [...DIGIT_WORDS, ...FIRST_NAMES]) expect(lexicon.pronunciationsOf(word), word).not.toEqual([]);
});

it('gives each pronunciation of a word, of one letter too', () => {
  expect(lexicon.pronunciationsOf('yes')).toEqual(['Y EH S']);
  expect(lexicon.pronunciationsOf('a')).toEqual(['AH', 'EY']);
  expect(lexicon.pronunciationsOf("don't").length).toBeGreaterThan(0);
});

it.each(['', 'flurbify', 'YES', 'yes(2)', 'a b', ';;', '<s>', 'constructor1'])('knows no word %j', (word) => {
  expect(lexicon.pronunciationsOf(word)).toEqual([]);
});

it('finds words in a dictionary of any order, without a line end at its end', () => {
  const small = createLexicon('zoo Z UW\nab AE B\nzoom Z UW M\nab(2) AH B\nzo Z OW');
  expect(small.pronunciationsOf('zo')).toEqual(['Z OW']);
  expect(small.pronunciationsOf('zoo')).toEqual(['Z UW']);
  expect(small.pronunciationsOf('ab')).toEqual(['AE B', 'AH B']);
});
