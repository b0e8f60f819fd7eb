/**
 * How busy an engine thread is, and how far behind: what the I/O thread, and by it admission, knows of its backlog. The
 * scheduler of the thread counts its own work; the thread posts a report each 250 ms.
 */
import { type Clock, every } from '../../contract/clock.ts';

export interface EngineLoad {
  type: 'load';
  /** Share of the time since the last report in which it worked, 0 to 1. */
  busyRatio: number;
  /** Of what is waited for, how long the most urgent has been due. */
  lateMs: number;
}

/** A scheduler, as far as its load is told. */
export interface Metered {
  /** Spent on work, since the start. */
  readonly busyMs: number;
  readonly lateMs: number;
}

const REPORT_EVERY_MS = 250;

/** Adds what `work` took to `spent`. */
export function timed(clock: Pick<Clock, 'nowMs'>, spent: (ms: number) => void, work: () => void): void {
  const beganAtMs = clock.nowMs();
  try {
    work();
  } finally {
    spent(clock.nowMs() - beganAtMs);
  }
}

/** Reports for as long as the thread lives. */
export function reportLoad(clock: Pick<Clock, 'nowMs' | 'after'>, of: Metered, post: (load: EngineLoad) => void): void {
  let atMs = clock.nowMs();
  let busyMs = of.busyMs;
  every(clock, REPORT_EVERY_MS, () => {
    const nowMs = clock.nowMs();
    const ratio = (of.busyMs - busyMs) / Math.max(1, nowMs - atMs);
    atMs = nowMs;
    busyMs = of.busyMs;
    post({ type: 'load', busyRatio: Math.min(1, ratio), lateMs: of.lateMs });
  });
}
