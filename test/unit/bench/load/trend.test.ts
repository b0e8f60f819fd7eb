/** Slopes: a known one is found, noise is none, and what hangs together is believed less. */
import { describe, expect, test } from 'vitest';
import { createRandom } from '../../../../bench/harness/seeded-random.ts';
import { Series, slopeOf } from '../../../../bench/load/result/trend.ts';
import { evenPartOf, sayTrend, trendsOf } from '../../../../bench/load/result/trends.ts';
import { workloadOf } from '../../../support/load-runs/make-run.ts';

const MINUTE_MS = 60_000;

/** A point each five seconds of an hour. */
const hourOf = (value: (hours: number, at: number) => number) =>
  Array.from({ length: 720 }, (_, at) => ({ atMs: at * 5_000, value: value(at / 720, at) }));

/** Values of −1 to 1; `held` of the one before stays. */
function noiseOf(seed: number, held = 0): () => number {
  const random = createRandom(seed);
  let last = 0;
  return () => {
    last = held * last + (1 - held) * (2 * random() - 1);
    return last;
  };
}

describe('a slope', () => {
  test('is found behind noise, with what it began at', () => {
    const noise = noiseOf(5);
    const slope = slopeOf(hourOf((hours) => 100 + 12 * hours + 4 * noise()))!;
    expect(slope.perHour).toBeGreaterThan(11);
    expect(slope.perHour).toBeLessThan(13);
    expect([slope.low < 12, slope.high > 12, slope.low > 0]).toEqual([true, true, true]);
    expect(slope.from).toBeCloseTo(100, 0);
    expect(slope.overMs).toBe(719 * 5_000);
  });

  test('of an exact line is exact, and of an even one 0', () => {
    expect(slopeOf(hourOf((hours) => 7 + 3 * hours))!.perHour).toBeCloseTo(3, 6);
    expect(slopeOf(hourOf(() => 7))).toMatchObject({ perHour: 0, low: 0, high: 0 });
  });

  test('of noise is none in 95 of 100, also where neighbours hang together', () => {
    for (const held of [0, 0.98]) {
      const found = Array.from({ length: 200 }, (_, seed) => {
        const noise = noiseOf(seed + 1, held);
        const { low, high } = slopeOf(hourOf(noise))!;
        return low > 0 || high < 0 ? 1 : 0;
      }).reduce((sum: number, one) => sum + one, 0);
      expect(found).toBeLessThanOrEqual(held === 0 ? 20 : 40);
    }
  });

  test('is wider the shorter the run', () => {
    const width = (minutes: number): number => {
      const noise = noiseOf(9);
      const { low, high } = slopeOf(hourOf(() => noise()).slice(0, minutes * 12))!;
      return high - low;
    };
    expect(width(5)).toBeGreaterThan(10 * width(60));
  });

  test('of less than two minutes, or of few points, is none', () => {
    expect(slopeOf(hourOf((hours) => hours).slice(0, 23))).toBeNull();
    expect(slopeOf([])).toBeNull();
    expect(slopeOf([0, 1, 2].map((at) => ({ atMs: at * MINUTE_MS, value: at })))).toBeNull();
  });
});

test('a series of a long run is thinned, and keeps its beginning and its line', () => {
  const series = new Series();
  for (let at = 0; at < 100_000; at++) series.add(at * 1_000, at);
  const points = series.within(0, 100_000_000);
  expect(points.length).toBeLessThan(4_000);
  expect(points.length).toBeGreaterThan(1_500);
  expect(points[0]).toEqual({ atMs: 0, value: 0 });
  expect(slopeOf(points)!.perHour).toBeCloseTo(3_600, 6);
});

describe('the even part of a run', () => {
  test('is the last phase without its ramp and what warms up', () => {
    const soak = workloadOf({ phases: [{ arrivals: 'level', calls: 10, rampSeconds: 30, forSeconds: 3_600 }] });
    expect(evenPartOf(soak)).toEqual({ fromMs: 30_000, untilMs: 3_600_000 });
    expect(evenPartOf({ ...soak, warmUpSeconds: 60 })).toEqual({ fromMs: 60_000, untilMs: 3_600_000 });
    const steady = workloadOf({
      phases: [
        { arrivals: 'ramp', fromPerSecond: 0, toPerSecond: 1, forSeconds: 60 },
        { arrivals: 'poisson', perSecond: 1, forSeconds: 540 },
      ],
    });
    expect(evenPartOf(steady)).toEqual({ fromMs: 60_000, untilMs: 600_000 });
  });

  test('is none of a burst, of a restart, of a search', () => {
    expect(evenPartOf(workloadOf({ phases: [{ arrivals: 'burst', calls: 5 }] }))).toBeNull();
    expect(evenPartOf(workloadOf({ restartsAtSeconds: [10] }))).toBeNull();
    expect(evenPartOf(workloadOf({ knee: { from: 1, to: 2 } }))).toBeNull();
  });

  test('alone is looked at: what fills and drains a run is no slope', () => {
    const series = new Series();
    for (let at = 0; at < 700; at++) series.add(at * 1_000, at < 60 ? at : at > 600 ? 0 : 60);
    const workload = workloadOf({ phases: [{ arrivals: 'level', calls: 5, rampSeconds: 60, forSeconds: 600 }] });
    const [trend] = trendsOf(workload, [{ name: 'memory media-0', kind: 'bytes', series }]);
    expect(trend).toMatchObject({ name: 'memory media-0', kind: 'bytes', from: 60, perHour: 0, overMs: 540_000 });
  });
});

test('a trend is said with its confidence and its meaning', () => {
  const trend = { name: 'memory media-0', kind: 'bytes', from: 2e8, overMs: 3_540_000 } as const;
  expect(sayTrend({ ...trend, perHour: 1.25e6, low: -3e5, high: 2.8e6 })).toEqual({
    slope: '+1.25 MB an hour (−300 kB to +2.80 MB)',
    verdict: 'no trend can be told',
  });
  const growing = { ...trend, perHour: 9e6, low: 4e6, high: 14e6 };
  expect(sayTrend(growing).verdict).toBe('grows');
  expect(sayTrend({ ...growing, overMs: 240_000 }).verdict).toMatch(/^grows, in a run too short/);
  expect(sayTrend({ ...trend, kind: 'count', perHour: -2, low: -3, high: -1 })).toEqual({
    slope: '−2 an hour (−3 to −1)',
    verdict: 'shrinks',
  });
});
