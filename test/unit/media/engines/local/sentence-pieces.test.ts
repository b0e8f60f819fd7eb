import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../../../bench/harness/seeded-random.ts';
import { sentencePieces } from '../../../../../media/engines/local/sentence-pieces.ts';

const texts = (text: string): string[] => sentencePieces(text).map((piece) => piece.text);

describe('sentence pieces', () => {
  it('cuts after full stops, question marks and line ends, spaces with the piece before', () => {
    expect(texts('Hello. How are you?  Fine!\nGood "day." Bye')).toEqual([
      'Hello. ',
      'How are you?  ',
      'Fine!\n',
      'Good "day." ',
      'Bye',
    ]);
  });

  it('leaves abbreviations, initials, numbers and times whole', () => {
    for (const text of [
      'Dr. Smith and Mrs. J. Jones live at St. Mary.',
      'Come at 5 p.m. today, e.g. with No. 5.',
      'That is 3.14 or 10:30, or $42.10.',
    ]) {
      expect(texts(text)).toEqual([text]);
    }
  });

  it('ends a sentence at "p.m." when a capital follows', () => {
    expect(texts('See you at 5 p.m. Bring a friend.')).toEqual(['See you at 5 p.m. ', 'Bring a friend.']);
  });

  it('cuts a sentence of 200 letters at its last comma within 120', () => {
    const text = `${'word '.repeat(12)}here, ${'more '.repeat(8)}there, ${'then '.repeat(18)}end.`;
    const pieces = sentencePieces(text);
    expect(pieces[0]?.text.endsWith('there, ')).toBe(true);
    expect(pieces.map((piece) => piece.end)).toEqual(['clause', 'text']);
  });

  it('counts a digit as four letters: 100 digits with spaces make pieces of at most 30 digits', () => {
    const pieces = texts('12345 '.repeat(20));
    for (const piece of pieces) expect(piece.replace(/\D/g, '').length).toBeLessThanOrEqual(30);
  });

  it('cuts 4,000 letters without a space, and no surrogate pair', () => {
    const pieces = texts('😀'.repeat(2000));
    expect(pieces.length).toBeGreaterThan(30);
    for (const piece of pieces) expect(piece).not.toMatch(/^[\udc00-\udfff]|[\ud800-\udbff]$/);
  });

  it('gives pieces that are the text when joined, for 500 random texts', () => {
    const parts = ['word', 'a.m. ', 'Dr. ', '. ', '? ', ', ', '\n', '  ', '12', '3.5 ', '"', 'é', '😀', '...', ' - '];
    const random = createRandom(11);
    for (let i = 0; i < 500; i++) {
      let text = '';
      for (let k = 0; k < i % 90; k++) {
        text += parts[Math.floor(random() * parts.length)];
      }
      expect(texts(text).join('')).toBe(text);
    }
  });
});
