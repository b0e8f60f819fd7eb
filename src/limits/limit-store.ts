/**
 * The port behind all limits: rates (GCRA) and slots (leases that expire), each by name, on the store's own clock, so
 * that all nodes count together and none needs a right clock. Two implementations, PostgreSQL and Redis, pass one
 * suite; `failover-store.ts` puts one behind the other. Who wants to know only whether one more
 * may come uses `rate-limit.ts`.
 */
import type { RateAsk } from './gcra.ts';

/** At most `limit` holders of `name` at a time. */
export interface SlotAsk {
  name: string;
  limit: number;
}

/**
 * All of it, or nothing: where one refuses, none is taken. The first that refuses, rates before
 * slots, gives the reason.
 */
export interface Admission {
  rates: readonly RateAsk[];
  slots: readonly SlotAsk[];
  /** Who gets the slots, by an id of its own: to ask again for what one holds takes nothing more. */
  holder: string;
  /** How long the slots stay taken if nobody renews them. */
  ttlMs: number;
  /** Others ask for its one rate together with further ones: no short cut past their locks. */
  sharesRate?: boolean;
}

/**
 * `tatsUs` in the order of `rates`, µs ahead of the store's now, before anything was taken;
 * `inUse` of `slots`, without this holder.
 */
export type AdmissionAnswer =
  | { ok: true; tatsUs: readonly number[]; inUse: readonly number[] }
  | { ok: false; refused: 'rate' | 'slot'; index: number; tatsUs: readonly number[]; inUse: readonly number[] };

/** One who holds slots. */
export interface Hold {
  holder: string;
  names: readonly string[];
}

export interface LimitStore {
  readonly kind: 'postgres' | 'redis';
  /** Rejects when the store is away or slow; nothing may be taken for granted then. */
  admit(admission: Admission): Promise<AdmissionAnswer>;
  /**
   * Puts off the end of what is held, and takes what had ended meanwhile: whoever lives holds
   * its slot, whatever the limit says.
   */
  renew(holds: readonly Hold[], ttlMs: number): Promise<void>;
  /** Idempotent. */
  release(hold: Hold): Promise<void>;
  /** Gives one of a rate back, as if it had not been taken. Not for rates whose answers were used as times. */
  giveBack(rate: RateAsk): Promise<void>;
  /** How many hold a slot of each name now. */
  inUse(names: readonly string[]): Promise<number[]>;
}
