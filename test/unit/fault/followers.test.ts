/** What is wrong with what followers of a call were shown. */
import { expect, test } from 'vitest';
import { faultsOf, nameOf, type Shown } from '../../fault/chaos/followers.ts';

const NAMES = ['1 turn a', '2 turn b', '3 turn c', '4 turn d'];
const STORED = { ids: ['3', '4', '9', '10'], untilEnd: 3, names: NAMES };
/** Each with its id. */
const stream = (ids: string[], isAtEnd: boolean): Shown => ({
  ...{ ids, isAtEnd },
  events: ids.map((id) => ({ name: NAMES[STORED.ids.indexOf(id)] ?? 'x', id })),
});
const rules = (...streams: Shown[]): string[] => faultsOf('call', streams, STORED).map(({ what }) => what);
const whole = stream(['3', '4', '9'], true);

test('a stream to the end of the call is right, behind others that broke off, and with what came after the end', () => {
  expect(rules(whole)).toEqual([]);
  expect(rules(stream(['3'], false), stream([], false), stream([...STORED.ids], true))).toEqual([]);
});

test('a gap, another order, an event of no log and an end before the end are told', () => {
  expect(rules(stream(['3', '9'], false), whole)).toEqual(['call: event 9 came in place of 4']);
  expect(rules(stream(['4', '3', '9'], true))).toEqual(['call: event 4 came in place of 3']);
  expect(rules(stream(['3', '4', '9', '11'], true))).toEqual(['call: event 11 is not in its log']);
  expect(rules(stream(['3', '4'], true))).toEqual([
    'call: its stream ended after 2 events, its end is the one of number 3',
  ]);
});

test('who was shown nothing, or is never told of the end, is told of', () => {
  expect(rules()).toEqual(['call: its stream never came to its end']);
  expect(rules(stream([...STORED.ids], false))).toEqual(['call: its stream never came to its end']);
});

test('what was shown before it was stored is shown once, by the event whose id came, in the order it was told', () => {
  const told = (...names: string[]) => names.map((name) => ({ name, id: null }));
  const ids = [...STORED.ids];
  expect(rules({ ids, isAtEnd: true, events: told(...NAMES) })).toEqual([]);
  expect(rules({ ids, isAtEnd: true, events: told(...NAMES, 'never stored') })).toEqual([]);
  const both = [...told(...NAMES), { name: '2 turn b', id: '4' }];
  expect(rules({ ids, isAtEnd: true, events: both })).toEqual([
    'call: event 4 was shown 1 times without its id, which came 0 times',
  ]);
  expect(rules({ ids, isAtEnd: true, events: told('1 turn a', '3 turn c', '2 turn b', '4 turn d') })).toEqual([
    'call: it was shown in another order',
  ]);
  expect(rules({ ids, isAtEnd: true, events: told('1 turn a', '3 turn c', '4 turn d', '4 turn d') })).toEqual([
    'call: event 4 was shown 0 times before its id',
    'call: event 10 was shown 2 times without its id, which came 1 times',
  ]);
});

test('a line that stands in the log twice is shown twice', () => {
  const stored = { ids: ['1', '2'], untilEnd: 2, names: ['1 turn a', '1 turn a'] };
  const events = [
    { name: '1 turn a', id: null },
    { name: '1 turn a', id: '2' },
  ];
  expect(faultsOf('call', [{ ids: ['1', '2'], isAtEnd: true, events }], stored)).toEqual([]);
});

test('an event is the same, stored or not', () => {
  const told = { at: '2026-11-20T10:00:00.123Z', kind: 'turn', data: { turn: { b: 1, a: [{ d: 1, c: 2 }] } } };
  const stored = { at: '2026-11-20T10:00:00.123+00:00', kind: 'turn', data: { turn: { a: [{ c: 2, d: 1 }], b: 1 } } };
  expect(nameOf(told)).toBe(nameOf(stored));
});
