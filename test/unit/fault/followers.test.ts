/** What is wrong with what followers of a call were shown. */
import { expect, test } from 'vitest';
import { faultsOf, type Shown } from '../../fault/chaos/followers.ts';

const STORED = { ids: ['3', '4', '9', '10'], untilEnd: 3 };
const rules = (...streams: Shown[]): string[] => faultsOf('call', streams, STORED).map(({ what }) => what);
const whole: Shown = { ids: ['3', '4', '9'], isAtEnd: true };

test('a stream to the end of the call is right, behind others that broke off, and with what came after the end', () => {
  expect(rules(whole)).toEqual([]);
  expect(
    rules({ ids: ['3'], isAtEnd: false }, { ids: [], isAtEnd: false }, { ids: [...STORED.ids], isAtEnd: true }),
  ).toEqual([]);
});

test('a gap, another order, an event of no log and an end before the end are told', () => {
  expect(rules({ ids: ['3', '9'], isAtEnd: false }, whole)).toEqual(['call: event 9 came in place of 4']);
  expect(rules({ ids: ['4', '3', '9'], isAtEnd: true })).toEqual(['call: event 4 came in place of 3']);
  expect(rules({ ids: ['3', '4', '9', '11'], isAtEnd: true })).toEqual(['call: event 11 is not in its log']);
  expect(rules({ ids: ['3', '4'], isAtEnd: true })).toEqual([
    'call: its stream ended after 2 events, its end is the one of number 3',
  ]);
});

test('who was shown nothing, or is never told of the end, is told of', () => {
  expect(rules()).toEqual(['call: its stream never came to its end']);
  expect(rules({ ids: [...STORED.ids], isAtEnd: false })).toEqual(['call: its stream never came to its end']);
});
