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

/** Resolves after at least `afterMs`, or as soon as `signal` is aborted. Never rejects. */
export function pause(clock: Pick<Clock, 'after'>, afterMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(afterMs, done);
    function done(): void {
      cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    }
    if (signal?.aborted) done();
    else signal?.addEventListener('abort', done, { once: true });
  });
}

/** Runs `run` each `everyMs` from now, the next time set before it runs. Returns a function that ends it. */
export function every(clock: Pick<Clock, 'after'>, everyMs: number, run: () => void): () => void {
  let cancel = (): void => {};
  function later(): void {
    cancel = clock.after(everyMs, () => {
      later();
      run();
    });
  }
  later();
  return () => cancel();
}

export const systemClock: Clock = {
  nowMs: () => performance.now(),
  epochMs: () => Date.now(),
  after(afterMs, run) {
    // Node cuts fractions off: whoever waits for an instant would be there before it, and wait once more.
    const timer = setTimeout(run, Math.ceil(Math.max(0, afterMs)));
    return () => clearTimeout(timer);
  },
};
