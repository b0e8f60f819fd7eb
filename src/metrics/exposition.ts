/**
 * The families of all processes as one Prometheus text: each sample gets the label `process`, each family appears once.
 */
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from 'prom-client';
import type { MetricFamily } from '../../media/contract/metrics.ts';

/** Prometheus text format 0.0.4. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export function metricsText(byProcess: ReadonlyMap<string, readonly MetricFamily[]>): Promise<string> {
  const labelled = [...byProcess].map(([name, families]) =>
    families.map((family) => ({
      ...family,
      values: family.values.map((sample) => ({ ...sample, labels: { ...sample.labels, process: name } })),
    })),
  );
  const registry = AggregatorRegistry.aggregate(
    labelled as unknown as MetricObjectWithValues<MetricValue<string>>[][] as never,
  );
  return registry.metrics();
}
