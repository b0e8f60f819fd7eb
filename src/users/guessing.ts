/**
 * Whoever guesses is slowed by address, and by person and address together; guesses at one person from everywhere only
 * make new addresses wait a little, so that nobody can lock a person out. Codes are few, so tries at those end.
 */
import { createHash } from 'node:crypto';
import { perMinute, rateAsk } from '../limits/gcra.ts';
import { rateNames } from '../limits/limit-names.ts';
import type { LimitStore } from '../limits/limit-store.ts';
import { takeFromRate } from '../limits/rate-limit.ts';

/** Tries from one address, of whomever. */
const OF_ADDRESS = perMinute(20);
/** Tries at one person from one address. */
const OF_PERSON_THERE = { perSecond: 1 / 30, burst: 10 };
/** Tries at one person from everywhere; beyond it they wait, and are looked at all the same. */
const OF_PERSON = { perSecond: 1 / 60, burst: 60 };
/** Wrong codes beside one person's right password, from addresses from which the person has not come. */
const OF_CODES = { perSecond: 1 / 360, burst: 20 };

type Rate = readonly [name: string, rate: { perSecond: number; burst: number }];

export interface TooMany {
  kind: 'too_many';
  retryAfterSeconds: number;
}

export interface Try {
  kind: 'taken';
  /** False: many guess at this person. */
  isCalm: boolean;
  /** It was no guess. Not waited for. */
  giveBack(): void;
}

/** A try at the person whose e-mail address this is. */
export async function takeTry(limits: LimitStore, of: { email: string; address: string }): Promise<Try | TooMany> {
  const named = createHash('sha256').update(of.email.trim().toLowerCase()).digest('base64url');
  const everywhere: Rate = [rateNames.signInPerson(named), OF_PERSON];
  const taken = await takeAll(limits, [
    [rateNames.signInAddress(of.address), OF_ADDRESS],
    [rateNames.signInPersonThere(named, of.address), OF_PERSON_THERE],
  ]);
  if (taken.kind === 'too_many') return taken;
  const isCalm = (await takeFromRate(limits, ...everywhere)).ok;
  const giveBack = (): void => {
    taken.giveBack();
    if (isCalm) giveBackTo(limits, everywhere);
  };
  return { kind: 'taken', isCalm, giveBack };
}

/** A try of nobody in particular: whose passkey it is, the passkey says. */
export const takeTryOfAnybody = (limits: LimitStore, address: string): Promise<Try | TooMany> =>
  takeAll(limits, [[rateNames.signInAddress(address), OF_ADDRESS]]);

/** A try at somebody who is signed in, by whoever sits there. */
export const takeTryOnceMore = (limits: LimitStore, of: { userId: string; address: string }): Promise<Try | TooMany> =>
  takeAll(limits, [[rateNames.signInPersonThere(of.userId, of.address), OF_PERSON_THERE]]);

/**
 * A code beside the right password, from where the person has not come before. There are a million codes, so that they
 * may not be tried from everywhere as passwords may; who knows no password keeps nobody out by this.
 */
export const takeTryOfCode = (limits: LimitStore, userId: string): Promise<Try | TooMany> =>
  takeAll(limits, [[rateNames.signInCode(userId), OF_CODES]]);

async function takeAll(limits: LimitStore, rates: readonly Rate[]): Promise<Try | TooMany> {
  for (const [name, rate] of rates) {
    const taken = await takeFromRate(limits, name, rate);
    if (!taken.ok) return { kind: 'too_many', retryAfterSeconds: taken.retryAfterSeconds };
  }
  const giveBack = (): void => {
    for (const one of rates) giveBackTo(limits, one);
  };
  return { kind: 'taken', isCalm: true, giveBack };
}

function giveBackTo(limits: LimitStore, [name, rate]: Rate): void {
  limits.giveBack(rateAsk(name, rate)).catch(() => {});
}
