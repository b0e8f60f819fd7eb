/**
 * Counters and histograms by labels, as `control-metrics.ts` counts with them: numbers in a map until somebody asks, then families like
 * those of media. Not for values of open sets: each new combination of labels is kept for good.
 */
import type { MetricFamily, MetricSample } from '../../media/contract/metrics.ts';

type Labels = Readonly<Record<string, string | number>>;

export interface Counter {
  inc(labels: Labels): void;
  family(): MetricFamily;
}

export interface Histogram {
  observe(seconds: number, labels?: Labels): void;
  family(): MetricFamily;
}

const keyOf = (labels: Labels): string => JSON.stringify(Object.values(labels));

/** Every `inc` gives the same label names, in the same order. */
export function createCounter(name: string, help: string): Counter {
  const samples = new Map<string, MetricSample>();
  return {
    inc(labels) {
      const key = keyOf(labels);
      const known = samples.get(key);
      if (known === undefined) samples.set(key, { labels: { ...labels }, value: 1 });
      else known.value++;
    },
    family: () => ({ name, help, type: 'counter', aggregator: 'sum', values: copies(samples.values()) }),
  };
}

interface Observed {
  labels: Labels;
  /** One for each bound, and one for what lies above all; not added up. */
  counts: number[];
  sum: number;
}

/** `bounds` rise; a value that equals one is within it. One without labels has its zeros from the start. */
export function createHistogram(name: string, help: string, bounds: readonly number[], isLabelled: boolean): Histogram {
  const fresh = (labels: Labels): Observed => ({
    labels,
    counts: new Array<number>(bounds.length + 1).fill(0),
    sum: 0,
  });
  const series = new Map<string, Observed>(isLabelled ? [] : [[keyOf({}), fresh({})]]);
  return {
    observe(seconds, labels = {}) {
      const key = keyOf(labels);
      const known = series.get(key) ?? fresh({ ...labels });
      series.set(key, known);
      const bucket = bounds.findIndex((bound) => seconds <= bound);
      known.counts[bucket === -1 ? bounds.length : bucket]!++;
      known.sum += seconds;
    },
    family: () => ({
      name,
      help,
      type: 'histogram',
      aggregator: 'sum',
      values: [...series.values()].flatMap((one) => samplesOf(name, bounds, one)),
    }),
  };
}

function samplesOf(name: string, bounds: readonly number[], { labels, counts, sum }: Observed): MetricSample[] {
  let below = 0;
  const buckets = counts.map((count, bucket) => {
    below += count;
    return { labels: { le: bounds[bucket] ?? '+Inf', ...labels }, value: below, metricName: `${name}_bucket` };
  });
  return [
    ...buckets,
    { labels: { ...labels }, value: sum, metricName: `${name}_sum` },
    { labels: { ...labels }, value: below, metricName: `${name}_count` },
  ];
}

function copies(samples: Iterable<MetricSample>): MetricSample[] {
  return [...samples].map((sample) => ({ ...sample, labels: { ...sample.labels } }));
}
