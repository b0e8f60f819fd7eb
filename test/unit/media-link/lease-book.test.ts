import { expect, test } from 'vitest';
import { LeaseBook } from '../../../src/media-link/lease-book.ts';
import type { NamedCall } from '../../../src/media-link/leases.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const call = (name: string, epoch = 1): NamedCall => ({ callUuid: name, epoch });

/** A process that names its calls each second, and a database that takes every renewal. */
function rig() {
  const clock = new VirtualClock(1_000_000);
  const book = new LeaseBook(clock);
  const writes: string[][] = [];
  function second(...calls: NamedCall[]): void {
    const due = book.due(calls);
    if (due.length > 0) {
      writes.push(due.map(({ callUuid }) => callUuid));
      book.written(due, clock.epochMs());
    }
    clock.advanceMs(1_000);
  }
  return { clock, book, writes, second };
}

test('a lease is written when less than 15 s of its 30 are left: once in a call of 31 s', () => {
  const { clock, book, writes, second } = rig();
  book.written([call('a')], clock.epochMs());
  for (let at = 0; at <= 31; at++) second(call('a'));
  expect(writes).toEqual([['a']]);
});

test('calls that were claimed at different times are renewed together: 40 calls in a minute are at most 6 statements', () => {
  const { clock, book, writes, second } = rig();
  const calls: NamedCall[] = [];
  for (let at = 0; at < 60; at++) {
    if (at < 40) {
      calls.push(call(`call ${at}`));
      book.written(calls.slice(-1), clock.epochMs());
    }
    second(...calls);
  }
  expect(writes.length).toBeLessThanOrEqual(6);
  expect(new Set(writes.flat()).size).toBe(40);
});

test('no lease is ever let run below 14 s, whichever calls come and go', () => {
  const { clock, book, second } = rig();
  const until = new Map<string, number>();
  const note = book.written.bind(book);
  book.written = (calls, beganEpochMs) => {
    note(calls, beganEpochMs);
    for (const { callUuid } of calls) until.set(callUuid, beganEpochMs + 30_000);
  };
  for (let at = 0; at < 300; at++) {
    const named = Array.from({ length: 7 }, (_none, index) => index)
      .filter((index) => (at + index * 13) % 41 < 30)
      .map((index) => call(`call ${index}`));
    second(...named);
    for (const { callUuid } of named)
      expect((until.get(callUuid) ?? 0) - clock.epochMs()).toBeGreaterThanOrEqual(14_000);
  }
});

test('a call that is not known, was claimed anew, or whose renewal failed is written at the next word', () => {
  const { clock, book } = rig();
  expect(book.due([call('a')])).toEqual([call('a')]);
  expect(book.due([call('a')]), 'the renewal failed').toEqual([call('a')]);
  book.written([call('a')], clock.epochMs());
  expect(book.due([call('a')])).toEqual([]);
  expect(book.due([call('a', 2)])).toEqual([call('a', 2)]);
});

test('a wall clock that was set forward makes every lease short at once', () => {
  const { clock, book } = rig();
  book.written([call('a')], clock.epochMs());
  clock.setEpochMs(clock.epochMs() + 3_600_000);
  expect(book.due([call('a')])).toEqual([call('a')]);
});
