/**
 * Times that are counted without being kept: an HdrHistogram of three digits, 200 kB however many values it is given.
 * Used by the gatherer for each measure, and by whoever must write a `Distribution`.
 *
 * Values are counted in units of 10 µs, rounded up: exact to 20 ms, then to one part in a thousand. What is below 0
 * counts as 0, what is above six hours as six hours.
 */
import { build, type JsHistogram } from 'hdr-histogram-js';
import type { Distribution } from '../contract/distribution.ts';
import { coarsened } from './quantiles.ts';

const UNITS_PER_MS = 100;
const MOST_MS = 6 * 3_600_000;

export interface Times {
  /** `count` values of `ms`. What is no number is not counted. */
  add(ms: number, count?: number): void;
  /** With `alsoMs` beside what was added; these times stay as they are. */
  distribution(alsoMs?: readonly number[]): Distribution;
}

interface Counted {
  histogram: JsHistogram;
  least: number;
  most: number;
  sum: number;
}

export function createTimes(): Times {
  const counted = nothingCounted();
  return {
    add: (ms, count = 1) => record(counted, ms, count),
    distribution: (alsoMs = []) => {
      if (alsoMs.length === 0) return distributionOf(counted);
      const all = { ...counted, histogram: nothingCounted().histogram };
      all.histogram.add(counted.histogram);
      for (const ms of alsoMs) record(all, ms, 1);
      return distributionOf(all);
    },
  };
}

function nothingCounted(): Counted {
  const histogram = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: MOST_MS * UNITS_PER_MS,
    numberOfSignificantValueDigits: 3,
    // Half a million calls have 10⁹ frames: counts of 32 bits would run over.
    bitBucketSize: 64,
    autoResize: false,
  }) as JsHistogram;
  return { histogram, least: Number.POSITIVE_INFINITY, most: 0, sum: 0 };
}

function record(counted: Counted, ms: number, count: number): void {
  if (!Number.isFinite(ms) || count <= 0) return;
  const within = Math.min(MOST_MS, Math.max(0, ms));
  // The subtraction keeps 0.29 × 100 from becoming 30 units.
  counted.histogram.recordValueWithCount(Math.max(0, Math.ceil(within * UNITS_PER_MS - 1e-6)), count);
  counted.least = Math.min(counted.least, within);
  counted.most = Math.max(counted.most, within);
  counted.sum += within * count;
}

function distributionOf({ histogram, least, most, sum }: Counted): Distribution {
  const count = histogram.totalCount;
  if (count === 0) return emptyDistribution();
  const at = (percent: number): number => Math.min(most, histogram.getValueAtPercentile(percent) / UNITS_PER_MS);
  return {
    count,
    min: rounded(least),
    mean: rounded(sum / count),
    p50: rounded(at(50)),
    p90: rounded(at(90)),
    p95: rounded(at(95)),
    p99: rounded(at(99)),
    p999: rounded(at(99.9)),
    max: rounded(most),
    buckets: coarsened(bucketsOf(histogram)),
  };
}

function bucketsOf(histogram: JsHistogram): [number, number][] {
  const buckets: [number, number][] = [];
  const values = histogram.recordedValuesIterator;
  values.reset();
  while (values.hasNext()) {
    const { valueIteratedTo, countAddedInThisIterationStep: count } = values.next();
    buckets.push([rounded(valueIteratedTo / UNITS_PER_MS), count]);
  }
  return buckets;
}

export function emptyDistribution(): Distribution {
  const none = null;
  return {
    count: 0,
    min: none,
    mean: none,
    p50: none,
    p90: none,
    p95: none,
    p99: none,
    p999: none,
    max: none,
    buckets: [],
  };
}

const rounded = (ms: number): number => Math.round(ms * 1_000) / 1_000;
