/**
 * Quantiles of a `Distribution` as it stands in a result: of its buckets, by nearest rank, as `bench/harness` takes
 * them of values. Used by `--fail-if`, the comparison and the plots.
 */
import type { Distribution } from '../contract/distribution.ts';

type Buckets = Distribution['buckets'];

/** More than anybody sees; a few kB of JSON. */
const MOST_BUCKETS = 600;

/** The value at or below which this part lies (0.5 is the median); null of none. */
export function quantileOf(distribution: Distribution, part: number): number | null {
  return quantilesOf(distribution)(part);
}

/** The same for many parts of one distribution. */
export function quantilesOf({ count, min, max, buckets }: Distribution): (part: number) => number | null {
  const passed = new Float64Array(buckets.length);
  for (const [at, [, inBucket]] of buckets.entries()) passed[at] = (passed[at - 1] ?? 0) + inBucket;
  return (part) => {
    if (count === 0 || part <= 0) return min;
    // The subtraction keeps a rank such as 0.95 × 20 from becoming 20.
    const rank = Math.max(1, Math.ceil(part * count - 1e-9));
    let [from, to] = [0, buckets.length - 1];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (passed[middle]! >= rank) to = middle;
      else from = middle + 1;
    }
    return Math.min(buckets[from]?.[0] ?? Number.POSITIVE_INFINITY, max ?? Number.POSITIVE_INFINITY);
  };
}

/** Neighbours put together, finely where that is enough, so that not too many are left. The greatest stays as it is. */
export function coarsened(buckets: Buckets, most: number = MOST_BUCKETS): Buckets {
  for (let width = 0.002; ; width *= 1.5) {
    if (buckets.length <= most) return buckets;
    buckets = merged(buckets, width);
  }
}

/** What lies within this part of its own value becomes one bucket. */
function merged(buckets: Buckets, width: number): Buckets {
  const wider: Buckets = [];
  let from = 0;
  let open: [number, number] | null = null;
  for (const [upTo, count] of buckets) {
    if (open !== null && upTo - from <= upTo * width) open = [upTo, open[1] + count];
    else {
      if (open !== null) wider.push(open);
      from = upTo;
      open = [upTo, count];
    }
  }
  if (open !== null) wider.push(open);
  return wider;
}
