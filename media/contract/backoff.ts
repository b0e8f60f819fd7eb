/**
 * Pauses before something is tried again, each twice as long as the one before, up to a longest. Used on both sides:
 * for threads and processes that died, connections that were lost, recordings whose store did not take them.
 */

export interface PauseRange {
  firstMs: number;
  longestMs: number;
}

/**
 * The pause after `attempts` (0, 1, 2, …) that failed: for counts that are kept elsewhere, as in a row of a table.
 */
export function pauseAfter(attempts: number, { firstMs, longestMs }: PauseRange): number {
  return Math.min(longestMs, firstMs * 2 ** attempts);
}

export interface Backoff {
  /** The pause before the next attempt. Counts as one that failed. */
  nextMs(): number;
  /** It went well: the next pause is the first again. */
  reset(): void;
}

export function createBackoff(range: PauseRange): Backoff {
  let attempts = 0;
  return {
    nextMs: () => pauseAfter(attempts++, range),
    reset() {
      attempts = 0;
    },
  };
}
