/**
 * The generic cell rate algorithm in integer microseconds: one stored number a limited thing, the theoretical arrival
 * time (tat). Pure arithmetic; the stores do the same sums on their own clocks, the failed-authentication throttle on
 * the process's. Here all times are relative to now, so that a clock's zero never matters.
 */

/**
 * `perSecond` new things a second on average (20, or 10/60 for ten a minute), at most `burst`
 * at once; 0 allows nothing.
 */
export interface Rate {
  perSecond: number;
  /** Whole. */
  burst: number;
}

/** What a rate of zero tells the client to wait; it will be refused then too. */
export const NEVER_RETRY_US = 60_000_000;

/**
 * A rate as the stores want it. One is taken when the tat is at most `toleranceUs` ahead; it moves on by `periodUs`.
 */
export interface RateAsk {
  name: string;
  periodUs: number;
  /** −1: nothing is let through. */
  toleranceUs: number;
}

export function perMinute(count: number): Rate {
  return { perSecond: count / 60, burst: count };
}

/**
 * Microseconds between two arrivals at the steady rate; 3 a second gives 333,334 (rounded so
 * that the rate is never exceeded).
 */
export function periodUs(rate: Rate): number {
  return Math.ceil(1_000_000 / rate.perSecond);
}

export function rateAsk(name: string, rate: Rate): RateAsk {
  if (rate.perSecond <= 0 || rate.burst <= 0) return { name, periodUs: NEVER_RETRY_US, toleranceUs: -1 };
  const period = periodUs(rate);
  return { name, periodUs: period, toleranceUs: (rate.burst - 1) * period };
}

/** How long after a refusal the ask would be heard; `tatUs` as the store found it, µs ahead of now. */
export function retryAfterUs(ask: RateAsk, tatUs: number): number {
  return ask.toleranceUs < 0 ? NEVER_RETRY_US : Math.max(1, tatUs - ask.toleranceUs);
}

/** How many more would be let through at once; `tatUs` as it is now, after what was taken. */
export function remainingOf(ask: RateAsk, tatUs: number): number {
  if (ask.toleranceUs < 0) return 0;
  return Math.max(0, Math.floor((ask.toleranceUs - tatUs) / ask.periodUs) + 1);
}

export type RateDecision =
  | { ok: true /** Where the tat moves to, µs after now. */; nextTatUs: number; remaining: number }
  | { ok: false; retryAfterUs: number };

/** The whole algorithm where no store does it. `tatUs`: µs after now; negative or zero when it lies in the past. */
export function decideRate(tatUs: number, rate: Rate): RateDecision {
  const ask = rateAsk('', rate);
  const startUs = Math.max(0, tatUs);
  if (startUs > ask.toleranceUs) return { ok: false, retryAfterUs: retryAfterUs(ask, startUs) };
  const nextTatUs = startUs + ask.periodUs;
  return { ok: true, nextTatUs, remaining: remainingOf(ask, nextTatUs) };
}
