/**
 * One rate-limited thing by its name: may one more come now? Step 2 of contract §2 (requests of a key), embed sessions,
 * and whatever else needs a rate that all nodes share.
 */
import { type Rate, rateAsk, remainingOf, retryAfterUs } from './gcra.ts';
import type { LimitStore } from './limit-store.ts';

export type RateAnswer =
  | { ok: true; remaining: number /** Seconds until the whole burst is free again. */; resetSeconds: number }
  | { ok: false /** Whole seconds, 1 or more. */; retryAfterSeconds: number };

const NO_SLOTS = { slots: [], holder: '', ttlMs: 0 } as const;

/** Takes one from `name`'s rate. */
export async function takeFromRate(store: LimitStore, name: string, rate: Rate): Promise<RateAnswer> {
  const ask = rateAsk(name, rate);
  const answer = await store.admit({ rates: [ask], ...NO_SLOTS });
  const [tatUs = 0] = answer.tatsUs;
  if (!answer.ok) return { ok: false, retryAfterSeconds: wholeSeconds(retryAfterUs(ask, tatUs)) };
  const nextTatUs = tatUs + ask.periodUs;
  return { ok: true, remaining: remainingOf(ask, nextTatUs), resetSeconds: wholeSeconds(nextTatUs) };
}

/** 1 or more. */
export function wholeSeconds(us: number): number {
  return Math.max(1, Math.ceil(us / 1_000_000));
}

/** The `w` of RateLimit-Policy: in so many seconds the whole burst comes back. */
export function windowSeconds(rate: Rate): number {
  return rate.perSecond > 0 ? Math.max(1, Math.ceil(rate.burst / rate.perSecond)) : 60;
}
