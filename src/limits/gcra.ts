/**
 * The generic cell rate algorithm in integer microseconds: one stored number a limited thing, the theoretical arrival
 * time (tat). Pure arithmetic, used with the database's clock (`rate-limit.ts`, `call-limits.ts`) and with the process's
 * own (`failed-auth-throttle.ts`). Here all times are relative to now, so that a clock's zero never matters.
 */

/** `perSecond` new things a second on average, at most `burst` at once. Both whole; 0 allows nothing. */
export interface Rate {
  perSecond: number;
  burst: number;
}

export type RateDecision =
  | { ok: true /** Where the tat moves to, µs after now. */; nextTatUs: number; remaining: number }
  | { ok: false; retryAfterUs: number };

/** What a rate of zero tells the client to wait; it will be refused then too. */
export const NEVER_RETRY_US = 60_000_000;

/** Microseconds between two arrivals at the steady rate; 3 a second gives 333,334 (rounded so that the rate is never exceeded). */
export function periodUs(rate: Rate): number {
  return Math.ceil(1_000_000 / rate.perSecond);
}

/** `tatUs`: the stored arrival time as µs after now; negative or zero when it lies in the past. */
export function decideRate(tatUs: number, rate: Rate): RateDecision {
  if (rate.perSecond <= 0 || rate.burst <= 0) return { ok: false, retryAfterUs: NEVER_RETRY_US };
  const period = periodUs(rate);
  const toleranceUs = (rate.burst - 1) * period;
  const startUs = Math.max(0, tatUs);
  if (startUs > toleranceUs) return { ok: false, retryAfterUs: startUs - toleranceUs };
  const nextTatUs = startUs + period;
  return { ok: true, nextTatUs, remaining: Math.floor((rate.burst * period - nextTatUs) / period) };
}
