/** The `latency` of a call log entry (contract §13) from the reply latencies that the pipeline measured, pure. */
import type { TurnLatency } from '../../media/contract/conversation.ts';

export interface Spread {
  p50: number;
  p90: number;
  p95: number;
  p99: number;
  max: number;
  count: number;
}

const STAGES = ['eouMs', 'sttMs', 'ttsMs', 'agentMs'] as const;

/** Null when no reply was measured. Each stage counts from the end of the caller's last sound; `turns` keeps the single values. */
export function summariseLatencies(latencies: readonly TurnLatency[]): Record<string, unknown> | null {
  if (latencies.length === 0) return null;
  const spreads = STAGES.map((stage) => [stage, spreadOf(latencies.map((latency) => latency[stage]))] as const);
  return { ...Object.fromEntries(spreads), method: 'pipeline', turns: latencies };
}

/** Nearest-rank percentiles, whole milliseconds. */
export function spreadOf(valuesMs: readonly number[]): Spread | null {
  const sorted = valuesMs.filter((value) => Number.isFinite(value)).sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const at = (ratio: number): number => Math.round(sorted[Math.max(0, Math.ceil(ratio * sorted.length) - 1)]!);
  return { p50: at(0.5), p90: at(0.9), p95: at(0.95), p99: at(0.99), max: at(1), count: sorted.length };
}
