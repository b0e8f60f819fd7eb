import { expect, it } from 'vitest';
import { createBackoff, pauseAfter } from '../../../../media/contract/backoff.ts';

const RANGE = { firstMs: 100, longestMs: 5_000 };

it('doubles from the first pause to the longest, and begins anew after a success', () => {
  const backoff = createBackoff(RANGE);
  expect(Array.from({ length: 8 }, () => backoff.nextMs())).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
  backoff.reset();
  expect([backoff.nextMs(), backoff.nextMs()]).toEqual([100, 200]);
});

it('stays at the longest however often it failed', () => {
  const many = [6, 20, 1_000, 100_000, Number.MAX_SAFE_INTEGER];
  expect(many.map((attempts) => pauseAfter(attempts, RANGE))).toEqual(many.map(() => RANGE.longestMs));
});
