/**
 * Slots of calls, which PostgreSQL has the last word on: whichever store is asked first, the slot is promised there
 * too, where the active rows are counted with it. So the count is exact on one node and on many, with Redis, without
 * it, and while it comes and goes. Used for phone calls (`call-limits.ts`) and for web sessions (`embed-limits.ts`).
 */
import type { Queryable } from '../store/database.ts';
import { type Write, writeTogether } from '../store/joint-write.ts';
import type { Admission, AdmissionAnswer, LimitStore } from './limit-store.ts';

export interface LimitStores {
  /** Decides first, and on rates alone: Redis in front of PostgreSQL, or PostgreSQL itself. */
  store: LimitStore;
  postgres: LimitStore;
}

/** From the admission to the row: a transaction that comes later than this must not make a row. */
export const PROMISE_MS = 15_000;
/** In Redis a slot is held for the whole call, and renewed by `slot-keeper.ts`. */
export const REDIS_SLOT_MS = 45_000;

/** `promiseMs`: how long the row may be in coming. */
export async function admitToSlots(
  { store, postgres }: LimitStores,
  asked: Omit<Admission, 'ttlMs'>,
  promiseMs: number,
): Promise<AdmissionAnswer> {
  const ttlMs = store.kind === 'redis' ? Math.max(promiseMs, REDIS_SLOT_MS) : promiseMs;
  const first = await store.admit({ ...asked, ttlMs });
  if (!first.ok || store === postgres) return first;
  // Had Redis failed, it was PostgreSQL that answered; what one holds already it can ask for again.
  const last = await postgres.admit({ ...asked, rates: [], ttlMs: promiseMs });
  if (last.ok) return first;
  await store.release({ holder: asked.holder, names: asked.slots.map((slot) => slot.name) });
  return { ...last, tatsUs: first.tatsUs };
}

/** The promise was not kept in time, and the slot may be another's by now: there must be no row. */
export class PromiseEnded extends Error {}

/** The promise becomes the row: a part of the statement that inserts it. Throws `PromiseEnded`. */
export function keptPromise(callUuid: string): Write {
  return {
    sql: (place) => `DELETE FROM limit_leases WHERE holder = ${place(callUuid)} AND ${IS_PROMISE} RETURNING 1 AS one`,
    returns: {
      value: 'count(*)::int',
      to(kept) {
        if (kept === 0) throw new PromiseEnded();
      },
    },
  };
}

/** The same in the transaction that inserts the row, by itself. False: there must be no row. */
export async function keepPromise(tx: Queryable, callUuid: string): Promise<boolean> {
  try {
    await writeTogether(tx, [keptPromise(callUuid)]);
    return true;
  } catch (error) {
    if (error instanceof PromiseEnded) return false;
    throw error;
  }
}

const IS_PROMISE = `name ~ '^(calls|web):' AND until > clock_timestamp()`;
