/**
 * The only source of time. Comes in by parameter everywhere that time matters; tests pass a virtual clock.
 * `nowMs` is monotonic (durations, deadlines, media); `epochMs` is wall clock (only for records
 * that leave the process).
 */
export interface Clock {
  /** Monotonic milliseconds, fractional; the zero point is arbitrary. */
  nowMs(): number;
  /** Wall clock, milliseconds since 1970-01-01 UTC. */
  epochMs(): number;
  /** Runs `run` once after at least `afterMs`. Returns a function that cancels it; cancelling twice is fine. */
  after(afterMs: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  nowMs: () => performance.now(),
  epochMs: () => Date.now(),
  after(afterMs, run) {
    const timer = setTimeout(run, Math.max(0, afterMs));
    return () => clearTimeout(timer);
  },
};
