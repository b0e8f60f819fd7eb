/**
 * Lateness at our own send, out of the histograms that a media process reports to control: a
 * window is the difference of two.
 */
import type { MetricFamily } from '../../media/contract/metrics.ts';

export interface SendLateness {
  /** Interpolated inside the histogram's bucket. */
  p50Ms: number;
  p99Ms: number;
  /**
   * Share of the frames that were handed over within 5 ms of their time, 0–1: a bound of the histogram, so it is exact.
   */
  within5MsRatio: number;
  frames: number;
}

/** Frames by upper bound, ms, each with all below it. */
export type SendCounts = { boundMs: number; upTo: number }[];

export const SEND_LATENESS_FAMILY = 'parley_media_frame_send_lateness_seconds';

export function sendCountsOf(families: readonly MetricFamily[]): SendCounts | null {
  const family = families.find(({ name }) => name === SEND_LATENESS_FAMILY);
  if (family === undefined) return null;
  return family.values
    .filter(({ metricName }) => metricName?.endsWith('_bucket'))
    .map(({ labels, value }) => ({
      boundMs: labels['le'] === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels['le']) * 1000,
      upTo: value,
    }));
}

export function lateSince(before: SendCounts | null, after: SendCounts | null): SendLateness | null {
  if (before === null || after === null) return null;
  const counts = after.map(({ boundMs, upTo }, i) => ({ boundMs, upTo: upTo - (before[i]?.upTo ?? 0) }));
  const frames = counts.at(-1)?.upTo ?? 0;
  if (frames === 0) return null;
  const at = (share: number): number => {
    let lowMs = 0;
    let below = 0;
    for (const { boundMs, upTo } of counts) {
      if (upTo >= frames * share) {
        if (!Number.isFinite(boundMs)) return lowMs;
        return lowMs + ((boundMs - lowMs) * (frames * share - below)) / Math.max(1, upTo - below);
      }
      lowMs = boundMs;
      below = upTo;
    }
    return lowMs;
  };
  const within = counts.find(({ boundMs }) => Math.abs(boundMs - 5) < 1e-6)?.upTo ?? 0;
  return { p50Ms: at(0.5), p99Ms: at(0.99), within5MsRatio: within / frames, frames };
}
