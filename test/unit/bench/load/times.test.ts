/** Histograms and the quantiles of what is written of them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { percentile } from '../../../../bench/harness/percentile.ts';
import { distributionSchema } from '../../../../bench/load/contract/distribution.ts';
import { coarsened, quantileOf } from '../../../../bench/load/result/quantiles.ts';
import { createTimes, emptyDistribution } from '../../../../bench/load/result/times.ts';

const PARTS = [0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1];

function timesOf(values: readonly number[]) {
  const times = createTimes();
  for (const value of values) times.add(value);
  return times.distribution();
}

describe('a distribution', () => {
  it('agrees with the values themselves to one part in a thousand, and to 10 µs', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 300 }),
        (values) => {
          const distribution = distributionSchema.parse(timesOf(values));
          for (const part of PARTS) {
            const exact = percentile(values, part);
            const found = quantileOf(distribution, part)!;
            expect(Math.abs(found - exact)).toBeLessThanOrEqual(0.011 + 0.001 * exact);
          }
          expect(distribution.max).toBeCloseTo(Math.max(...values), 2);
          expect(distribution.min).toBeCloseTo(Math.min(...values), 2);
          expect(distribution.buckets.reduce((sum, [, count]) => sum + count, 0)).toBe(values.length);
        },
      ),
      { seed: 5, numRuns: 60 },
    );
  });

  it('has buckets that rise, and none that holds nothing', () => {
    const { buckets } = timesOf([5, 5, 0, 640, 640.001, 5]);
    expect(buckets).toEqual([
      [0, 1],
      [5, 3],
      [640.31, 2],
    ]);
  });

  it('of many values is no longer than it must be, and its quantiles hold to one percent', () => {
    const values = Array.from({ length: 50_000 }, (_, at) => 100 * Math.exp((3 * at) / 50_000));
    const distribution = timesOf(values);
    expect(distribution.buckets.length).toBeLessThanOrEqual(600);
    for (const part of PARTS.slice(1)) {
      expect(Math.abs(quantileOf(distribution, part)! / percentile(values, part) - 1)).toBeLessThan(0.01);
    }
    expect(JSON.stringify(distribution).length).toBeLessThan(12_000);
  });

  it('takes a value many times, what is below 0 as 0, and no value that is no number', () => {
    const times = createTimes();
    times.add(20, 3_000_000_000);
    times.add(-4);
    times.add(Number.NaN);
    times.add(7, 0);
    const distribution = times.distribution();
    expect(distribution).toMatchObject({ count: 3_000_000_001, min: 0, p50: 20, max: 20 });
  });

  it('of nothing has no figures', () => {
    expect(timesOf([])).toEqual(emptyDistribution());
    expect(quantileOf(emptyDistribution(), 0.5)).toBeNull();
  });

  it('may be asked for with other values beside it, and stays as it was', () => {
    const times = createTimes();
    times.add(10);
    expect(times.distribution([1_000])).toMatchObject({ count: 2, min: 10, max: 1_000, mean: 505 });
    expect(times.distribution()).toMatchObject({ count: 1, max: 10 });
  });
});

describe('buckets put together', () => {
  it('keep their counts, their greatest value and their order', () => {
    const fine = Array.from({ length: 1_000 }, (_, at): [number, number] => [at + 1, 2]);
    const coarse = coarsened(fine, 50);
    expect(coarse.length).toBeLessThanOrEqual(50);
    expect(coarse.reduce((sum, [, count]) => sum + count, 0)).toBe(2_000);
    expect(coarse.at(-1)![0]).toBe(1_000);
    expect(coarse.map(([upTo]) => upTo)).toEqual(coarse.map(([upTo]) => upTo).toSorted((a, b) => a - b));
  });

  it('stay as they are where they are few', () => {
    expect(
      coarsened(
        [
          [1, 1],
          [1.001, 1],
        ],
        2,
      ),
    ).toEqual([
      [1, 1],
      [1.001, 1],
    ]);
  });
});
