/** What a model writes becomes what is spoken, with a way back from what was heard. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ClauseCutter } from '../../../../../media/agents/cascade/clause.ts';
import { speakable, writtenOf } from '../../../../../media/agents/cascade/speakable.ts';

const spoken = (written: string, language = 'en-US') =>
  speakable(written, language)
    .map((part) => part.spoken)
    .join('');

test.each([
  ['It costs $1,234.50 now.', 'It costs one thousand two hundred thirty four dollars and fifty cents now.'],
  ['$1 or €0.99 or £2 million', 'one dollar or ninety nine cents or two million pounds'],
  ['Order 4711234 is due.', 'Order four seven one, one two three, four is due.'],
  ['room 12, seat 3.5', 'room twelve, seat three point five'],
  ['on March 3rd, 2026 at 3:05 pm', 'on March third, twenty twenty six at three oh five p m'],
  ['2026-11-22, 11/02/2025', 'November twenty second, twenty twenty six, November second, twenty twenty five'],
  ['in 2008 and 1999', 'in two thousand eight and nineteen ninety nine'],
  ['at 9am or 15:30', 'at nine a m or three thirty p m'],
  ['Call +1 (415) 555-0123.', 'Call plus one, four one five, five five five, zero one two three.'],
  ['Mail jo.doe@acme-shop.com now', 'Mail jo dot doe at acme dash shop dot com now'],
  ['See https://www.example.com/help?x=1.', 'See example dot com slash help.'],
  ['5% off, 1st of 5-10 days', 'five percent off, first of five to ten days'],
  ['order #42', 'order number four two'],
  ['**Bold** and _thin_ `code` 🙂 ok', 'Bold and thin code  ok'],
  ['# Title\n- one\n- two', 'Title. one. two'],
  ['[our page](https://x.example/a) is up', 'our page is up'],
  ['snake_case stays', 'snake_case stays'],
  ['a3b and B12', 'a3b and B12'],
  ['and/or A & B', 'and or or A and B'],
])('%s', (written, said) => expect(spoken(written)).toBe(said));

test('other languages keep their numbers, and lose markdown', () => {
  expect(spoken('Das kostet **12,50 €** um 15:30 🙂.', 'de')).toBe('Das kostet 12,50 € um 15:30 .');
});

test('what was heard leads back to what was written; half of a number is not heard', () => {
  const parts = speakable('It is **$12.50** for two.', 'en');
  const text = parts.map((part) => part.spoken).join('');
  expect(writtenOf(parts, text.length)).toBe('It is **$12.50** for two.');
  expect(writtenOf(parts, 'It is twelve dollars'.length)).toBe('It is **');
  expect(writtenOf(parts, 'It is twelve dollars and fifty cents for'.length)).toBe('It is **$12.50** for');
  expect(writtenOf(parts, 0)).toBe('');
});

test('any text: the parts make up what was written, and the way back never gives more', () => {
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom('$5', '12:30', '**', '`', '\n- ', '[a](b)', 'x@y.z', '2026-01-02', '|', '🙂', '#1', ' '),
  );
  fc.assert(
    fc.property(
      fc.array(word, { maxLength: 20 }),
      fc.constantFrom('en', 'de'),
      fc.nat(200),
      (words, language, heard) => {
        const written = words.join('');
        const parts = speakable(written, language);
        expect(parts.map((part) => part.written).join('')).toBe(written);
        expect(written.startsWith(writtenOf(parts, heard))).toBe(true);
      },
    ),
  );
});

describe('clauses', () => {
  const cut = (pieces: string[]): string[] => {
    const cutter = new ClauseCutter();
    return [...pieces.map((piece) => cutter.push(piece, 0)), cutter.flush()];
  };

  test('go out at their ends, numbers, dates and links whole', () => {
    expect(cut(['Well', ', then'])).toEqual(['', 'Well, ', 'then']);
    expect(cut(['On March 3', ', ', '2026', ', at noon'])).toEqual(['', '', '', 'On March 3, 2026, ', 'at noon']);
    expect(cut(['3.', '5 is', ' it. Yes'])).toEqual(['', '', '3.5 is it. ', 'Yes']);
    expect(cut(['See [our, ', 'page](http', 's://x.example), now'])).toEqual([
      '',
      '',
      'See [our, page](https://x.example), ',
      'now',
    ]);
  });

  test('a model that pauses in a long clause lets it out at a blank between words', () => {
    const cutter = new ClauseCutter();
    expect(cutter.push('this is a long clause without any sign of an end', 0)).toBe('');
    expect(cutter.tick(200)).toBe('');
    expect(cutter.tick(260)).toBe('this is a long clause without any sign of an ');
  });

  test('any text in any pieces is handed on whole', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom('a', '1', '.', ',', ' ', '[', ']', '(', ')', '\n') })),
        (pieces) => {
          expect(cut(pieces).join('')).toBe(pieces.join(''));
        },
      ),
    );
  });
});
