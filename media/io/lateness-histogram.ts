/**
 * Counts how late ticks began, in fixed buckets: no allocation. The log reads and resets a window, metrics read it
 * since the start.
 */

/** Upper bounds, ms; one more bucket takes the rest. */
export const LATENESS_BOUNDS_MS = [0.25, 0.5, 1, 2, 3, 5, 10, 20, 50, 100, 200, 400] as const;

export class LatenessHistogram {
  readonly counts = new Float64Array(LATENESS_BOUNDS_MS.length + 1);
  total = 0;
  maxMs = 0;
  #sumMs = 0;
  readonly #closedCounts = new Float64Array(LATENESS_BOUNDS_MS.length + 1);

  /** `times`: so many things were late by this. */
  add(lateMs: number, times = 1): void {
    let bucket = 0;
    while (bucket < LATENESS_BOUNDS_MS.length && lateMs > LATENESS_BOUNDS_MS[bucket]!) bucket++;
    this.counts[bucket]! += times;
    this.total += times;
    this.#sumMs += lateMs * times;
    if (lateMs > this.maxMs) this.maxMs = lateMs;
  }

  /**
   * Upper bound of the bucket in which the given share (0–1) of all ticks is reached; `maxMs`
   * for the last. 0 when empty.
   */
  percentileMs(shareRatio: number): number {
    let seen = 0;
    for (let bucket = 0; bucket < LATENESS_BOUNDS_MS.length; bucket++) {
      seen += this.counts[bucket]!;
      if (seen > 0 && seen >= this.total * shareRatio) return Math.min(LATENESS_BOUNDS_MS[bucket]!, this.maxMs);
    }
    return this.maxMs;
  }

  /** Since the start, whatever was reset. */
  sinceStart(): { counts: Float64Array; sumMs: number } {
    return { counts: this.#closedCounts.map((count, bucket) => count + this.counts[bucket]!), sumMs: this.#sumMs };
  }

  /** Begins a new window. */
  reset(): void {
    for (let bucket = 0; bucket < this.counts.length; bucket++) this.#closedCounts[bucket]! += this.counts[bucket]!;
    this.counts.fill(0);
    this.total = 0;
    this.maxMs = 0;
  }
}
