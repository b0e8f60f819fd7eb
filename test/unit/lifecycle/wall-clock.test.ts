import pino from 'pino';
import { expect, test } from 'vitest';
import { createWallClock } from '../../../src/lifecycle/wall-clock.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const NOON = Date.parse('2026-11-28T12:00:00Z');

function clockAtNoon() {
  const clock = new VirtualClock(NOON);
  const wall = createWallClock(clock, pino({ level: 'silent' }));
  /** Sets it, and sees that. */
  const set = (byMs: number): boolean => {
    clock.setEpochMs(clock.epochMs() + byMs);
    return wall.look();
  };
  /** How long it is since noon by what has passed, in ms. */
  const passedMs = (since = new Date(NOON)): number => wall.passedEpochMs(since) - NOON;
  return { clock, wall, set, passedMs };
}

test('set forward, what has passed for those of before is what really passed, and told once', () => {
  const { clock, wall, set, passedMs } = clockAtNoon();
  clock.advanceMs(10_000);
  expect(wall.look()).toBe(false);
  expect(set(3_600_000)).toBe(true);
  expect(wall.look()).toBe(false);
  clock.advanceMs(5_000);
  expect(passedMs()).toBe(15_000);
  const later = new Date(clock.epochMs());
  clock.advanceMs(1_000);
  expect(wall.passedEpochMs(later) - later.getTime()).toBe(1_000);
});

test('a jump that is taken back, whole or in parts, is taken off again', () => {
  const { clock, set, passedMs } = clockAtNoon();
  set(30_000);
  set(-30_000);
  clock.advanceMs(2_000);
  expect(passedMs()).toBe(2_000);
  set(30_000);
  set(60_000);
  set(-70_000);
  expect(passedMs()).toBe(2_000);
  set(-20_000);
  expect(passedMs()).toBe(2_000);
});

test('set back, timers are late by that until it is set right; a correction of a few seconds is nothing', () => {
  const { set, passedMs } = clockAtNoon();
  expect(set(4_000)).toBe(false);
  expect(passedMs()).toBe(4_000);
  set(-30_000);
  expect(passedMs()).toBe(-26_000);
  set(30_000);
  expect(passedMs()).toBe(4_000);
});
