/** When a failed delivery is tried again (contract §6): 12 attempts over 75.7 h. Pure. */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The pause after attempt n is at index n − 1; after the last attempt there is none. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];
export const MAX_ATTEMPTS = RETRY_DELAYS_MS.length + 1;
/** So that a thousand deliveries that failed together do not come back together. */
const JITTER_RATIO = 0.2;
const MAX_RETRY_AFTER_MS = HOUR_MS;

/**
 * Ms until the next attempt, or null when `attemptsMade` (1…12) was the last. `random` gives 0 ≤ x < 1. A receiver's
 * Retry-After can only make the pause longer, by an hour at most. `scale` shortens the whole schedule for fault runs.
 */
export function nextDelayMs(
  attemptsMade: number,
  random: () => number,
  retryAfterMs: number | null,
  scale = 1,
): number | null {
  const baseMs = RETRY_DELAYS_MS[attemptsMade - 1];
  if (baseMs === undefined) return null;
  const jitteredMs = Math.round(scale * baseMs * (1 - JITTER_RATIO + 2 * JITTER_RATIO * random()));
  return Math.max(jitteredMs, Math.round(scale * Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS)));
}

/** RFC 9110 §10.2.3: seconds or an HTTP date. Null when absent, malformed or past. */
export function parseRetryAfter(value: string | null, nowEpochMs: number): number | null {
  if (value === null) return null;
  const text = value.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND_MS;
  // An HTTP date always names a weekday and GMT; Date.parse alone would take "7.5" or "-1".
  if (!/^[A-Za-z]{3,9}, .* GMT$/.test(text)) return null;
  const waitMs = Date.parse(text) - nowEpochMs;
  return waitMs > 0 ? waitMs : null;
}
