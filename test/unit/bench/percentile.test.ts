import { expect, test } from 'vitest';
import { percentile, percentiles } from '../../../bench/harness/percentile.ts';

test('percentiles are values that were seen, by nearest rank, in whatever order they came', () => {
  const hundred = Array.from({ length: 100 }, (_, at) => 100 - at);
  expect(percentiles(hundred, [0, 0.01, 0.5, 0.99, 1])).toEqual([1, 1, 50, 99, 100]);
  expect(percentile(Float64Array.of(10, 9, 1), 0.5)).toBe(9);
  expect(percentile([7], 0.01)).toBe(7);
  expect(hundred[0]).toBe(100);
});

test('none have none', () => expect(percentile([], 0.5)).toBeNaN());
