/** The one wall time of nodes whose machines do not agree: the database's. */
import { expect, test } from 'vitest';
import { createSharedClock } from '../../../src/nodes/shared-clock.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const NOW = 1_800_000_000_000;

/** A machine whose clock is `fastMs` ahead of the database's, and has heard it once. */
function machine(fastMs: number, answerMs = 0) {
  const own = new VirtualClock(NOW + fastMs);
  const clock = createSharedClock(own);
  const hear = (): void => {
    const askedAtMs = own.nowMs();
    const databaseMs = own.epochMs() - fastMs + answerMs / 2;
    own.advanceMs(answerMs);
    clock.heard(databaseMs, askedAtMs);
  };
  hear();
  return { own, clock, hear };
}

test.each([30_000, -30_000, 3_600_000])('a machine that is %i ms ahead has the database’s time', (fastMs) => {
  const { own, clock } = machine(fastMs, 40);
  own.advanceMs(5_000);
  expect(clock.epochMs()).toBe(NOW + 5_040);
  expect(clock.aheadMs()).toBe(-fastMs);
  expect(clock.nowMs()).toBe(own.nowMs());
});

test('what time services correct, and a slow answer, change nothing: time would go back and forth', () => {
  expect(machine(900).clock.aheadMs()).toBe(0);
  // Nobody knows when of these 4 s the database looked at its clock.
  expect(machine(4_500, 4_000).clock.aheadMs()).toBe(0);
  const { own, clock, hear } = machine(30_000);
  own.setEpochMs(own.epochMs() + 400);
  hear();
  expect(clock.aheadMs()).toBe(-30_000);
});

test('a machine whose clock is set right goes by its own again', () => {
  const { own, clock } = machine(30_000);
  own.setEpochMs(NOW);
  clock.heard(NOW + 200, own.nowMs());
  expect(clock.aheadMs()).toBe(0);
});

test('the first answer is asked for at the start', async () => {
  const own = new VirtualClock(NOW);
  const clock = createSharedClock(own);
  await clock.ask({ query: async () => [{ epochMs: NOW + 60_000 }] as never });
  expect(clock.epochMs()).toBe(NOW + 60_000);
});
