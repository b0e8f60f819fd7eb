import { describe, expect, it } from 'vitest';
import { MAX_ATTEMPTS, nextDelayMs, parseRetryAfter, RETRY_DELAYS_MS } from '../../../src/webhooks/retry-schedule.ts';

const middle = (): number => 0.5;

describe('the retry schedule', () => {
  it('is 12 attempts over 75.7 h: 5 s, 30 s, 2 min, 10 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h', () => {
    const minutes = [5 / 60, 0.5, 2, 10, 30, 120, 300, 600, 840, 1_200, 1_440];
    expect(RETRY_DELAYS_MS).toEqual(minutes.map((each) => each * 60_000));
    expect(MAX_ATTEMPTS).toBe(12);
    const hours = RETRY_DELAYS_MS.reduce((sum, each) => sum + each, 0) / 3_600_000;
    expect(hours.toFixed(1)).toBe('75.7');
  });

  it('waits exactly the pause in the middle of the jitter, 20 % less at one end and under 20 % more at the other', () => {
    expect(nextDelayMs(1, middle, null)).toBe(5_000);
    expect(nextDelayMs(1, () => 0, null)).toBe(4_000);
    expect(nextDelayMs(11, () => 0.999_999_999, null)).toBe(103_680_000);
  });

  it('ends after the 12th attempt', () => {
    expect(nextDelayMs(11, middle, null)).toBe(86_400_000);
    expect(nextDelayMs(12, middle, null)).toBeNull();
    expect(nextDelayMs(12, middle, 1_000)).toBeNull();
  });

  it('lets Retry-After lengthen the pause, by an hour at most, and never shorten it', () => {
    expect(nextDelayMs(1, middle, 60_000)).toBe(60_000);
    expect(nextDelayMs(1, middle, 7_200_000)).toBe(3_600_000);
    expect(nextDelayMs(6, middle, 60_000)).toBe(7_200_000);
  });
});

describe('parseRetryAfter', () => {
  const now = Date.UTC(2026, 10, 21, 1, 0, 0);
  it.each([
    ['7', 7_000],
    [' 120 ', 120_000],
    ['0', 0],
    ['Sat, 21 Nov 2026 01:00:30 GMT', 30_000],
    ['Sat, 21 Nov 2026 00:59:30 GMT', null],
    ['-1', null],
    ['7.5', null],
    ['soon', null],
    ['2026-11-21T01:00:30Z', null],
    ['99999999999', null],
    ['', null],
    [null, null],
  ])('reads %j as %j ms', (value, expected) => {
    expect(parseRetryAfter(value, now)).toBe(expected);
  });
});
