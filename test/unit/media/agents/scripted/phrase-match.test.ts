import { expect, test } from 'vitest';
import { PhraseBook } from '../../../../../media/agents/scripted/phrase-match.ts';

const book = new PhraseBook([
  { intent: 'anyone', phrases: ['<name>'] },
  { intent: 'yes', phrases: ['Yes, please!', 'uh-huh', "that's right"] },
  { intent: 'order', phrases: ['<digits>', 'order <digits> please'] },
  { intent: 'both', phrases: ['<name> has number <digits>'] },
]);

test.each([
  ['yes please', 'yes', null, null],
  ['uh huh', 'yes', null, null],
  ["that's right", 'yes', null, null],
  ['four two', 'order', '42', null],
  ['jane doe', 'anyone', null, 'Jane Doe'],
  ['order four two oh please', 'order', '420', null],
  ['order 42 please', 'order', '42', null],
  ['mary ann has number nine', 'both', '9', 'Mary Ann'],
])('"%s" chooses %s, digits %s, name %s', (text, intent, digits, name) => {
  const match = book.match(text);
  expect(match?.reply.intent).toBe(intent);
  expect(match?.digits).toBe(digits);
  expect(match?.name).toBe(name);
});

test.each([
  [''],
  ['   '],
  ['order please'],
  ['order four two'],
  ['one two three four'],
  ['constructor has number nine tails'],
])('"%s" fits no phrase wholly', (text) => {
  expect(
    new PhraseBook([{ intent: 'order', phrases: ['order <digits> please', '<name> has number <digits>'] }]).match(text),
  ).toBeNull();
});

test('a phrase of words wins over a class that also fits, whatever their order', () => {
  expect(book.match('yes please')?.reply.intent).toBe('yes');
  expect(book.match('jane')?.reply.intent).toBe('anyone');
});
