import { describe, expect, it } from 'vitest';
import { FIRST_NAMES } from '../../../../../media/engines/local/first-names.ts';
import {
  type CompiledGrammar,
  compileGrammar,
  DIGIT_WORDS,
  FINAL_STATE,
  GrammarError,
  START_STATE,
} from '../../../../../media/engines/local/grammar.ts';
import { loadLexicon } from '../../../../../media/engines/local/lexicon.ts';

const lexicon = await loadLexicon();
const compile = (...phrases: string[]): CompiledGrammar => compileGrammar(phrases, false, lexicon);

/** Whether the graph has a path from start to end over these words. */
function accepts(grammar: CompiledGrammar, words: string): boolean {
  let states = new Set([START_STATE]);
  for (const word of words.split(' ')) {
    states = new Set(grammar.arcs.filter((arc) => states.has(arc.from) && arc.word === word).map((arc) => arc.to));
  }
  return states.has(FINAL_STATE);
}

describe('a compiled grammar', () => {
  it('accepts each phrase whole, and no beginning, end or mixture of phrases', () => {
    const grammar = compile('yes', 'yes please', 'no thank you', 'no');
    for (const said of ['yes', 'yes please', 'no thank you', 'no']) expect(accepts(grammar, said), said).toBe(true);
    for (const said of ['please', 'no thank', 'thank you', 'yes no', 'yes thank you', 'yes please yes']) {
      expect(accepts(grammar, said), said).toBe(false);
    }
  });

  it('takes one to many digits for <digits>, at the end, in the middle and alone', () => {
    const grammar = compile('<digits>', 'number <digits> please', 'it is <digits>');
    for (const said of ['four', 'four two oh', 'number nine please', 'number nine nine zero please', 'it is one two']) {
      expect(accepts(grammar, said), said).toBe(true);
    }
    for (const said of ['number please', 'number nine', 'it is', 'four please', 'it is one please']) {
      expect(accepts(grammar, said), said).toBe(false);
    }
  });

  it('takes exactly one name for <name>', () => {
    const grammar = compile('my name is <name>', '<name> speaking');
    expect(accepts(grammar, `my name is ${FIRST_NAMES[0]}`)).toBe(true);
    expect(accepts(grammar, `${FIRST_NAMES.at(-1)} speaking`)).toBe(true);
    expect(accepts(grammar, 'my name is john mary')).toBe(false);
  });

  it('shares the states of equal beginnings: 12 phrases of 3 words from one word make 3 + 12 states', () => {
    const words = 'one two three four five six seven eight nine zero red blue'.split(' ');
    expect(compile(...words.map((word) => `room ${word} please`)).states).toBe(2 + 1 + words.length);
  });

  it('has the pronunciations of exactly the words that it uses', () => {
    const grammar = compile('Yes, please!', '<digits>');
    expect([...grammar.words.keys()].sort()).toEqual([...DIGIT_WORDS, 'yes', 'please'].sort());
    expect(grammar.words.get('yes')).toEqual(['Y EH S']);
  });

  it('has one key for equal phrases, in any order, case and punctuation', () => {
    expect(compile('Yes, please.', 'no').key).toBe(compile('no', 'yes please', 'No!').key);
    expect(compile('yes').key).not.toBe(compile('yes', 'no').key);
  });

  it('has another key for the same phrases anywhere', () => {
    expect(compileGrammar(['yes'], true, lexicon).key).not.toBe(compile('yes').key);
  });

  it('takes full stops, curly apostrophes and hyphens as the dictionary has them', () => {
    expect(accepts(compile('Dr. Smith', 'i don’t know'), "i don't know")).toBe(true);
    expect(accepts(compile('well-known'), 'well-known')).toBe(true);
    expect(accepts(compile('call-back please'), 'call back please')).toBe(true);
  });

  it('names every fault with its phrase', () => {
    const compiling = (): unknown => compile('yes', 'flurbify it', 'room 12', 'in <city>', '...', '');
    expect(compiling).toThrow(GrammarError);
    try {
      compiling();
    } catch (error) {
      const { faults } = error as GrammarError;
      expect(faults).toHaveLength(5);
      expect(faults[0]).toContain('"flurbify it" has the word "flurbify"');
      expect(faults[1]).toContain('12');
      expect(faults[2]).toContain('<digits> and <name>');
    }
  });

  it.each([
    ['no phrases', []],
    ['401 phrases', Array.from({ length: 401 }, () => 'yes')],
    ['a phrase of 21 words', ['yes '.repeat(21)]],
    ['names of object members', ['constructor __proto__']],
    ['the decoder’s own words', ['<sil>']],
    ['the rejection’s own words', ['~AA']],
  ])('refuses %s', (_what, phrases) => {
    expect(() => compileGrammar(phrases, false, lexicon)).toThrow(GrammarError);
  });
});
