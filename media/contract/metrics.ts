/**
 * Figures for operators as every process reports them: families of samples in the shape that prom-client gives and
 * takes as JSON. Media sends its families to control every few seconds; control serves all of them as text. Pure, no
 * package. Names are `parley_…` with base units (seconds, bytes); counters only rise and end in `_total`.
 */
export interface MetricSample {
  labels: Record<string, string | number>;
  value: number;
  /** Where it is not the family's: `…_bucket`, `…_sum`, `…_count`. */
  metricName?: string;
}

export interface MetricFamily {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  aggregator: 'sum';
  values: MetricSample[];
}

type Labels = Record<string, string | number>;

export function gauge(name: string, help: string, value: number, labels: Labels = {}): MetricFamily {
  return { name, help, type: 'gauge', aggregator: 'sum', values: [{ labels, value }] };
}

export function counter(name: string, help: string, value: number): MetricFamily {
  return { name, help, type: 'counter', aggregator: 'sum', values: [{ labels: {}, value }] };
}

/** One sample for each value of one label. */
export function counters(
  name: string,
  help: string,
  label: string,
  values: Readonly<Record<string, number>>,
): MetricFamily {
  const samples = Object.entries(values).map(([key, value]) => ({ labels: { [label]: key }, value }));
  return { name, help, type: 'counter', aggregator: 'sum', values: samples };
}

/** The same of values that fall too. */
export function gauges(...given: Parameters<typeof counters>): MetricFamily {
  return { ...counters(...given), type: 'gauge' };
}

/** `counts` has one entry for each bound, not yet added up, and one more for what lies above all. */
export function histogram(
  name: string,
  help: string,
  given: { bounds: readonly number[]; counts: ArrayLike<number>; sum: number },
): MetricFamily {
  const values: MetricSample[] = [];
  let below = 0;
  for (let bucket = 0; bucket <= given.bounds.length; bucket++) {
    below += given.counts[bucket] ?? 0;
    values.push({ labels: { le: given.bounds[bucket] ?? '+Inf' }, value: below, metricName: `${name}_bucket` });
  }
  values.push({ labels: {}, value: given.sum, metricName: `${name}_sum` });
  values.push({ labels: {}, value: below, metricName: `${name}_count` });
  return { name, help, type: 'histogram', aggregator: 'sum', values };
}

/** What a process reads of itself; whoever calls has `process` and the event loop's monitor. */
export interface ProcessReadings {
  memory: { rss: number; heapUsed: number; external: number; arrayBuffers: number };
  /** Of all threads, µs. */
  cpu: { user: number; system: number };
  /** Ms beyond the monitor's own interval, since the last reading. */
  eventLoopDelayMs: { p50: number; p99: number; max: number };
  uptimeSeconds: number;
}

/** Of `monitorEventLoopDelay`, which counts its own interval in and speaks of ns. */
export function eventLoopDelayOf(
  monitor: { percentile(percent: number): number; max: number; count: number },
  resolutionMs: number,
): ProcessReadings['eventLoopDelayMs'] {
  const beyond = (ns: number): number => (monitor.count === 0 ? 0 : Math.max(0, ns / 1e6 - resolutionMs));
  return { p50: beyond(monitor.percentile(50)), p99: beyond(monitor.percentile(99)), max: beyond(monitor.max) };
}

export function processFamilies(readings: ProcessReadings): MetricFamily[] {
  const { memory, cpu, eventLoopDelayMs } = readings;
  return [
    gauge('parley_process_resident_memory_bytes', 'Memory that the operating system counts', memory.rss),
    gauge('parley_process_heap_used_bytes', 'JavaScript heap of the main thread in use', memory.heapUsed),
    gauge('parley_process_external_memory_bytes', 'Memory of native objects and buffers', memory.external),
    counter('parley_process_cpu_seconds_total', 'CPU time of all threads', (cpu.user + cpu.system) / 1e6),
    {
      ...gauge('parley_process_event_loop_delay_seconds', 'How late the main thread runs, since the last report', 0),
      values: Object.entries({
        '0.5': eventLoopDelayMs.p50,
        '0.99': eventLoopDelayMs.p99,
        '1': eventLoopDelayMs.max,
      }).map(([quantile, delayMs]) => ({ labels: { quantile }, value: delayMs / 1000 })),
    },
    gauge('parley_process_uptime_seconds', 'Since the process started', readings.uptimeSeconds),
  ];
}
