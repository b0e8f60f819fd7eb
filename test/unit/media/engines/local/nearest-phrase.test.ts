import { describe, expect, it } from 'vitest';
import { compileGrammar } from '../../../../../media/engines/local/grammar.ts';
import { loadLexicon } from '../../../../../media/engines/local/lexicon.ts';
import { nearestPhrase } from '../../../../../media/engines/local/nearest-phrase.ts';

const lexicon = await loadLexicon();
const grammar = compileGrammar(['yes please', 'no thank you', 'where can i park', '<digits>'], false, lexicon);
const sounds = (words: string): string[] =>
  words.split(' ').flatMap((word) => lexicon.pronunciationsOf(word)[0]!.split(' '));

describe('the nearest phrase', () => {
  it('is the phrase itself, and sure, when nothing else was said', () => {
    expect(nearestPhrase(sounds('no thank you'), grammar)).toEqual({ text: 'no thank you', confidence: 1 });
  });

  it('is found inside longer speech, less sure the more was said around it', () => {
    const short = nearestPhrase(sounds('well yes please'), grammar)!;
    const long = nearestPhrase(sounds('well i would say yes please if you ask me'), grammar)!;
    expect([short.text, long.text]).toEqual(['yes please', 'yes please']);
    expect(short.confidence).toBeGreaterThan(0.8);
    expect(long.confidence).toBeLessThan(short.confidence);
    expect(long.confidence).toBeGreaterThan(0);
  });

  it('stays below a third for a sentence that has nothing of a phrase', () => {
    expect(nearestPhrase(sounds('somebody left a letter at the door'), grammar)!.confidence).toBeLessThan(0.34);
  });

  it('is none for no sound at all', () => {
    expect(nearestPhrase([], grammar)).toBeNull();
  });
});
