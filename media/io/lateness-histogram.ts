/** Counts how late ticks began, in fixed buckets: no allocation, read by logs and later by metrics. */

/** Upper bounds, ms; one more bucket takes the rest. */
export const LATENESS_BOUNDS_MS = [0.25, 0.5, 1, 2, 3, 5, 10, 20, 50, 100, 200, 400] as const;

export class LatenessHistogram {
  readonly counts = new Float64Array(LATENESS_BOUNDS_MS.length + 1);
  total = 0;
  maxMs = 0;

  add(lateMs: number): void {
    let bucket = 0;
    while (bucket < LATENESS_BOUNDS_MS.length && lateMs > LATENESS_BOUNDS_MS[bucket]!) bucket++;
    this.counts[bucket]!++;
    this.total++;
    if (lateMs > this.maxMs) this.maxMs = lateMs;
  }

  /** Upper bound of the bucket in which the given share (0–1) of all ticks is reached; `maxMs` for the last. 0 when empty. */
  percentileMs(shareRatio: number): number {
    let seen = 0;
    for (let bucket = 0; bucket < LATENESS_BOUNDS_MS.length; bucket++) {
      seen += this.counts[bucket]!;
      if (seen > 0 && seen >= this.total * shareRatio) return Math.min(LATENESS_BOUNDS_MS[bucket]!, this.maxMs);
    }
    return this.maxMs;
  }

  reset(): void {
    this.counts.fill(0);
    this.total = 0;
    this.maxMs = 0;
  }
}
