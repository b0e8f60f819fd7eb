import { expect, test } from 'vitest';
import { createBreakers } from '../../../src/tools/breaker.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

function use(count: number, failed: boolean | null, to: ReturnType<typeof createBreakers>, key = 'a'): void {
  for (let i = 0; i < count; i++) to.settled(key, failed);
}

test('opens at 50 % of at least 20 uses in 60 s, for 30 s; then one use tries, and decides', () => {
  const clock = new VirtualClock();
  const breakers = createBreakers(clock);
  use(10, false, breakers);
  use(9, true, breakers);
  expect(breakers.admits('a')).toBe(true);
  use(1, true, breakers);
  expect(breakers.admits('a')).toBe(false);
  expect(breakers.admits('b')).toBe(true);
  expect(breakers.openCount()).toBe(1);
  clock.advanceMs(29_999);
  expect(breakers.admits('a')).toBe(false);
  clock.advanceMs(1);
  expect([breakers.admits('a'), breakers.admits('a')]).toEqual([true, false]);
  breakers.settled('a', true);
  clock.advanceMs(29_999);
  expect(breakers.admits('a')).toBe(false);
  clock.advanceMs(1);
  expect(breakers.admits('a')).toBe(true);
  breakers.settled('a', false);
  expect([breakers.admits('a'), breakers.admits('a')]).toEqual([true, true]);
});

test('failures of more than 60 s ago, and what says nothing about the endpoint, do not count', () => {
  const clock = new VirtualClock();
  const breakers = createBreakers(clock);
  use(19, true, breakers);
  clock.advanceMs(60_000);
  use(1, true, breakers);
  use(50, null, breakers);
  expect(breakers.admits('a')).toBe(true);
});

test('a try that was called off leaves the next use to try', () => {
  const clock = new VirtualClock();
  const breakers = createBreakers(clock);
  use(20, true, breakers);
  clock.advanceMs(30_000);
  expect(breakers.admits('a')).toBe(true);
  breakers.settled('a', null);
  expect(breakers.admits('a')).toBe(true);
});
