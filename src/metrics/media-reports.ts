/**
 * The newest report of each media process, as it came over the link. One that has not reported for a while is left out,
 * so that a dead process does not look alive; its counters begin anew with the next run, as Prometheus expects.
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { MetricFamily } from '../../media/contract/metrics.ts';

const STALE_AFTER_MS = 20_000;

export interface MediaReports {
  reported(mediaId: string, families: readonly MetricFamily[]): void;
  /** By media id. */
  current(): ReadonlyMap<string, readonly MetricFamily[]>;
}

export function createMediaReports(clock: Clock): MediaReports {
  const reports = new Map<string, { atMs: number; families: readonly MetricFamily[] }>();
  return {
    reported: (mediaId, families) => void reports.set(mediaId, { atMs: clock.nowMs(), families }),
    current() {
      for (const [mediaId, { atMs }] of reports) if (clock.nowMs() - atMs > STALE_AFTER_MS) reports.delete(mediaId);
      return new Map([...reports].map(([mediaId, { families }]) => [mediaId, families]));
    },
  };
}
