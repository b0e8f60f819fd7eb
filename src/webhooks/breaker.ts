/**
 * The breaker of a receiver that fails (contract §6): after 20 failures in a row one attempt per 30 s asks whether it
 * is back. The rows count failures for all nodes and outlast a restart; a lane counts its own
 * between two looks at them. Pure.
 */

export const BREAKER_FAILURES = 20;
export const PROBE_EVERY_MS = 30_000;

export interface Breaker {
  /** `half_open`: the next attempt is the one that asks. */
  state: 'closed' | 'open' | 'half_open';
  /** When the way is opened for that attempt; null while closed, or while the URL is switched off. */
  opensAt: Date | null;
  reason: string | null;
}

export function breakerOf(seen: {
  failures: number;
  lastFailureAt: Date | null;
  lastFailure: string | null;
  isOff: boolean;
  now: Date;
}): Breaker {
  const { failures, lastFailureAt, lastFailure, isOff, now } = seen;
  if (failures < BREAKER_FAILURES) return { state: 'closed', opensAt: null, reason: null };
  const opensAt = new Date((lastFailureAt ?? now).getTime() + (lastFailureAt === null ? 0 : PROBE_EVERY_MS));
  const reason = `${failures} attempts in a row failed; the last: ${lastFailure ?? 'not known'}`;
  if (isOff) return { state: 'open', opensAt: null, reason };
  return { state: opensAt <= now ? 'half_open' : 'open', opensAt, reason };
}
