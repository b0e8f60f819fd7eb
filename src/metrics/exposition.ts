/** The families of all processes as one Prometheus text: each sample gets the label `process`, each family appears once. */
import type { MetricFamily } from '../../media/contract/metrics.ts';

/** Prometheus text format 0.0.4. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export function metricsText(byProcess: ReadonlyMap<string, readonly MetricFamily[]>): string {
  const heads = new Map<string, { head: string; lines: string[] }>();
  for (const [process, families] of byProcess) {
    for (const { name, help, type, values } of families) {
      const known = heads.get(name) ?? {
        head: `# HELP ${name} ${escapedHelp(help)}\n# TYPE ${name} ${type}`,
        lines: [],
      };
      heads.set(name, known);
      for (const { labels, value, metricName } of values) {
        known.lines.push(`${metricName ?? name}${labelsText({ ...labels, process })} ${numberText(value)}`);
      }
    }
  }
  return [...heads.values()].map(({ head, lines }) => `${[head, ...lines].join('\n')}\n`).join('\n');
}

function labelsText(labels: Readonly<Record<string, string | number>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapedLabel(String(value))}"`);
  return `{${pairs.join(',')}}`;
}

const escapedHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
const escapedLabel = (text: string): string => escapedHelp(text).replaceAll('"', '\\"');

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}
