import fc from 'fast-check';
import { expect, test } from 'vitest';
import { piecesOf } from '../../../../../media/call/speaking/sentences.ts';

test.each([
  ['One. Two! Three?', ['One.', 'Two!', 'Three?']],
  ['Dr. Smith sees you at 3.30 p.m. on Main St. today.', ['Dr. Smith sees you at 3.30 p.m. on Main St. today.']],
  ['It is at 5 p.m. Bring a card.', ['It is at 5 p.m.', 'Bring a card.']],
  ['J. Doe owes $1,042.10. Write to a@b.example.com now.', ['J. Doe owes $1,042.10.', 'Write to a@b.example.com now.']],
  ['He said "Stop." Then he left.', ['He said "Stop."', 'Then he left.']],
  ['So am I. You too?', ['So am I.', 'You too?']],
  ['  ', []],
  ['...', []],
  ['Well...', ['Well...']],
])('"%s" is said as %j', (text, pieces) => {
  expect(piecesOf(text).map((piece) => piece.text)).toEqual(pieces);
});

test('a long first sentence is cut at its first comma after 25 characters, a later one is not', () => {
  const long = 'Please arrive ten minutes early tomorrow, bring your insurance card, and ask for Ava.';
  expect(piecesOf(`${long} ${long}`)).toEqual([
    { text: 'Please arrive ten minutes early tomorrow,', charStart: 0, isClause: true },
    { text: 'bring your insurance card, and ask for Ava.', charStart: 42, isClause: false },
    { text: long, charStart: 86, isClause: false },
  ]);
});

test('pieces lie in the text in order, where they say, and leave out nothing that can be said', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', 'Bob', '3.5', 'Mr.', 'x.', 'why?', 'so,', '\n', '!', '"')), (words) => {
      const text = words.join(' ');
      let end = 0;
      let said = '';
      for (const piece of piecesOf(text)) {
        expect(text.slice(piece.charStart, piece.charStart + piece.text.length)).toBe(piece.text);
        expect(piece.charStart).toBeGreaterThanOrEqual(end);
        end = piece.charStart + piece.text.length;
        said += piece.text;
      }
      expect(said.replace(/[^a-z0-9]/gi, '')).toBe(text.replace(/[^a-z0-9]/gi, ''));
    }),
    { seed: 7, numRuns: 500 },
  );
});
