import { expect, test } from 'vitest';
import { EarlyEvents } from '../../../src/api/calls/early-events.ts';
import type { CallEvent } from '../../../src/calls/call-event-bus.ts';

const early = (ms: number, kind = 'speech', data: Record<string, unknown> = { text: `at ${ms}` }): CallEvent => ({
  ...{ callUuid: 'c', id: null, at: new Date(ms), kind, data },
  isEarly: true,
});
const stored = (id: string, event: CallEvent): CallEvent & { id: string } => {
  const { isEarly: _isEarly, ...told } = event;
  return { ...told, id };
};
function shown(events: EarlyEvents): (string | number)[] {
  const all: (string | number)[] = [];
  for (let event = events.next(); event !== undefined; event = events.next()) all.push(event.id ?? event.at.getTime());
  return all;
}

test('what is not stored is shown once, behind what is stored and not read, and is known when it is read', () => {
  const events = new EarlyEvents();
  events.heard(stored('7', early(1, 'status')));
  expect(shown(events)).toEqual([]);
  events.heard(early(2));
  events.heard(early(2));
  expect(shown(events)).toEqual(['7', 2]);
  events.heard(stored('8', early(2)));
  expect(shown(events)).toEqual([]);
  expect(events.read(stored('7', early(1, 'status')))).toBe(true);
  expect(events.read(stored('8', early(2)))).toBe(true);
  expect(events.read(stored('9', early(3)))).toBe(false);
});

test('what is told of early after it was read is not shown again', () => {
  const events = new EarlyEvents();
  expect(events.read(stored('7', early(2)))).toBe(false);
  events.heard(early(2));
  events.heard(early(1, 'turn'));
  expect(shown(events)).toEqual([1]);
});

test('two of a kind in one millisecond are two, told apart by what they say, as it is stored', () => {
  const events = new EarlyEvents();
  events.heard(early(5, 'turn', { role: 'user', text: 'yes', unclear: undefined }));
  expect(shown(events)).toEqual([5]);
  expect(events.read(stored('1', early(5, 'turn', { text: 'hello', role: 'agent' })))).toBe(false);
  expect(events.read(stored('2', early(5, 'turn', { text: 'yes', role: 'user' })))).toBe(true);
});

test('what was stored and is no more when it is read is not shown later', () => {
  const events = new EarlyEvents();
  events.heard(stored('7', early(1, 'turn')));
  events.asked();
  events.heard(stored('8', early(2, 'turn')));
  events.answered();
  events.heard(early(3));
  expect(shown(events)).toEqual(['8', 3]);
});

test('a stream that begins later hears what the others have, but for what its client had', () => {
  const events = new EarlyEvents();
  events.heard(stored('7', early(1, 'status')));
  events.heard(stored('9', early(2, 'status')));
  events.heard(early(3));
  expect(shown(events)).toEqual(['7', '9', 3]);
  expect(shown(events.forNewcomer('7'))).toEqual(['9', 3]);
});
