/**
 * What grows in a run, in sentences of one slope each: memory and open files of the target's processes, lateness of
 * frames, reply times. Of the part whose load is even alone: elsewhere a slope says how the load went. Used by the
 * gatherer and by whoever shows a result.
 */
import type { RunResult } from '../contract/run-result.ts';
import type { Workload } from '../contract/workload.ts';
import { lengthMsOf } from '../workload/arrivals.ts';
import { formatFigure, formatSpan } from './format-figure.ts';
import { type Series, slopeOf } from './trend.ts';

export type Trend = RunResult['trends'][number];

export interface NamedSeries {
  name: string;
  kind: Trend['kind'];
  series: Series;
}

/** The last phase, without its ramp and what warms up; null where its load is not even, or the run is a search. */
export function evenPartOf({ phases, warmUpSeconds, knee, restartsAtSeconds }: Workload): {
  fromMs: number;
  untilMs: number;
} | null {
  const last = phases.at(-1)!;
  if (knee !== undefined || restartsAtSeconds.length > 0) return null;
  if (last.arrivals !== 'level' && last.arrivals !== 'poisson') return null;
  // A log's own length is not known here.
  if (phases.some((phase) => phase.arrivals === 'replay')) return null;
  const beginsAtMs = phases.slice(0, -1).reduce((sum, phase) => sum + lengthMsOf(phase, new Map()), 0);
  const rampMs = last.arrivals === 'level' ? last.rampSeconds * 1_000 : 0;
  const fromMs = Math.max(warmUpSeconds * 1_000, beginsAtMs + rampMs);
  return { fromMs, untilMs: beginsAtMs + lengthMsOf(last, new Map()) };
}

export function trendsOf(workload: Workload, all: readonly NamedSeries[]): Trend[] {
  const part = evenPartOf(workload);
  if (part === null) return [];
  return all.flatMap(({ name, kind, series }) => {
    const slope = slopeOf(series.within(part.fromMs, part.untilMs));
    return slope === null ? [] : [{ name, kind, ...slope }];
  });
}

/** Heaps and pools of a process have found their size by then. */
const SETTLED_MS = 1_800_000;

/** `+1.2 MB an hour (−0.3 MB to +2.7 MB)`, and what that means. */
export function sayTrend({ kind, perHour, low, high, overMs }: Trend): { slope: string; verdict: string } {
  const signed = (value: number): string =>
    `${value < 0 ? '−' : '+'}${formatFigure(kind === 'count' ? 'rate' : kind, Math.abs(value))}`;
  const changes = low > 0 ? 'grows' : high < 0 ? 'shrinks' : null;
  const verdict =
    changes === null
      ? 'no trend can be told'
      : `${changes}${overMs < SETTLED_MS ? ', in a run too short to tell it from warming up' : ''}`;
  return { slope: `${signed(perHour)} an hour (${signed(low)} to ${signed(high)})`, verdict };
}

/** `Slopes of 59 min of even load, 95 % confidence`; empty where there are none. */
export function headOfTrends(trends: readonly Trend[]): string {
  const overMs = trends.reduce((most, trend) => Math.max(most, trend.overMs), 0);
  return trends.length === 0 ? '' : `slopes over ${formatSpan(overMs)} of even load, with 95 % confidence`;
}
