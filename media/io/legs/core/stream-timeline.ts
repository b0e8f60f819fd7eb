/**
 * Where received audio lies in time: ms since the stream began, from the carrier's timestamps, never from the time of
 * arrival, because frames come in bursts after a stall. Missing audio stays as time. One instance a stream; pure.
 * Timestamps are believed only as differences, and only while they agree with arrival: a wild one changes nothing.
 */

/** Less than two frames' deviation is jitter of the carrier's stamping, not lost audio. */
const GAP_MS = 40;
/** Audio cannot come from the future; so much is left for a late first frame. */
const AHEAD_OF_ARRIVAL_MS = 60;
/** Without usable timestamps only a long silence is taken for a gap. */
const UNSTAMPED_GAP_MS = 1000;
/** The carrier's clock may run slower than ours: the least lag over so many chunks shows it. */
const DRIFT_WINDOW_CHUNKS = 500;
const DRIFT_MS = 60;

export class StreamTimeline {
  /** Pieces of time for which no audio came. */
  gaps = 0;
  gapMs = 0;
  /** Timestamps that could not be true. */
  wildTimestamps = 0;
  #hasBegun = false;
  #expectedMs = 0;
  /** Stream time minus carrier timestamp; NaN until a timestamp came. */
  #offsetMs = Number.NaN;
  #chunks = 0;
  #leastLagMs = Number.POSITIVE_INFINITY;

  /** End of the audio placed so far, stream ms. */
  get endMs(): number {
    return this.#expectedMs;
  }

  /**
   * Places a chunk of `lengthMs` that came at `arrivedMs` (stream ms): returns the stream ms of its first sample, never
   * before the end of the chunk before it.
   */
  place(timestampMs: number, lengthMs: number, arrivedMs: number): number {
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      const atMs = Math.max(0, arrivedMs - lengthMs);
      this.#offsetMs = atMs - timestampMs;
      this.#expectedMs = atMs + lengthMs;
      return atMs;
    }
    let atMs = this.#expectedMs;
    const earliestLagMs = arrivedMs - lengthMs - atMs;
    const stampedMs = timestampMs + this.#offsetMs;
    if (Number.isNaN(stampedMs)) {
      if (earliestLagMs > UNSTAMPED_GAP_MS) atMs = this.#skipTo(arrivedMs - lengthMs);
      if (!Number.isNaN(timestampMs)) this.#offsetMs = atMs - timestampMs;
    } else {
      const missingMs = stampedMs - atMs;
      if (missingMs >= GAP_MS && stampedMs + lengthMs <= arrivedMs + AHEAD_OF_ARRIVAL_MS) {
        atMs = this.#skipTo(stampedMs);
      } else if (missingMs >= GAP_MS || missingMs <= -GAP_MS) {
        this.wildTimestamps++;
        if (earliestLagMs > UNSTAMPED_GAP_MS) atMs = this.#skipTo(arrivedMs - lengthMs);
        this.#offsetMs = atMs - timestampMs;
      }
    }
    atMs = this.#followDrift(atMs, arrivedMs - lengthMs - atMs, timestampMs);
    this.#expectedMs = atMs + lengthMs;
    return atMs;
  }

  #skipTo(atMs: number): number {
    this.gaps++;
    this.gapMs += atMs - this.#expectedMs;
    return atMs;
  }

  #followDrift(atMs: number, lagMs: number, timestampMs: number): number {
    if (lagMs < this.#leastLagMs) this.#leastLagMs = lagMs;
    if (++this.#chunks < DRIFT_WINDOW_CHUNKS) return atMs;
    const leastLagMs = this.#leastLagMs;
    this.#chunks = 0;
    this.#leastLagMs = Number.POSITIVE_INFINITY;
    if (leastLagMs < DRIFT_MS) return atMs;
    const movedMs = this.#skipTo(atMs + leastLagMs);
    if (!Number.isNaN(timestampMs)) this.#offsetMs = movedMs - timestampMs;
    return movedMs;
  }
}
