/**
 * Redis in front, PostgreSQL behind it. The rule: what Redis does not answer within 250 ms is decided by PostgreSQL at
 * once; after three such failures in a row, or while the connection is away, Redis is not asked at all until it has
 * answered a ping twice, one second apart. When neither answers, the ask rejects and its request is refused: limits
 * fail closed, and never hang.
 *
 * A rate that moves to the other store begins there with a full burst, once for each move. Slots of calls stay exact,
 * since PostgreSQL has the last word on them either way (`call-limits.ts`).
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import type { LimitStore } from './limit-store.ts';
import type { RedisStore } from './redis-store.ts';

export interface FailoverStore extends LimitStore {
  /** Who decides now. */
  serving(): 'postgres' | 'redis';
  /** Idempotent; closes Redis, not the database. */
  close(): void;
}

const FAILURES_IN_A_ROW = 3;
const PROBE_EVERY_MS = 1_000;
const GOOD_PROBES = 2;

export function createFailoverStore(deps: {
  redis: RedisStore;
  postgres: LimitStore;
  clock: Pick<Clock, 'after'>;
  log: Logger;
}): FailoverStore {
  const { redis, postgres, clock, log } = deps;
  let failures = 0;
  let open = false;
  let goodProbes = 0;
  let closed = false;
  let cancelProbe = (): void => {};

  function failed(error: unknown): void {
    failures += 1;
    if (open || closed || failures < FAILURES_IN_A_ROW) return;
    open = true;
    goodProbes = 0;
    log.warn({ err: error }, 'Redis does not answer: PostgreSQL decides on limits until it is back');
    probeLater();
  }

  function probeLater(): void {
    cancelProbe = clock.after(PROBE_EVERY_MS, () => {
      redis.ping().then(
        () => {
          goodProbes += 1;
          if (goodProbes < GOOD_PROBES) probeLater();
          else {
            open = false;
            failures = 0;
            log.info('Redis decides on limits again');
          }
        },
        () => {
          goodProbes = 0;
          probeLater();
        },
      );
    });
  }

  async function ask<Result>(work: (store: LimitStore) => Promise<Result>): Promise<Result> {
    if (!open) {
      try {
        const result = await work(redis);
        failures = 0;
        return result;
      } catch (error) {
        failed(error);
      }
    }
    return work(postgres);
  }

  return {
    get kind() {
      return open ? 'postgres' : 'redis';
    },
    serving: () => (open ? 'postgres' : 'redis'),
    admit: (admission) => ask((store) => store.admit(admission)),
    // Both: what was taken in one while the other was away must be known to either.
    renew: (holds, ttlMs) => ask((store) => store.renew(holds, ttlMs)),
    release: async (hold) => {
      await Promise.all([postgres.release(hold), open ? undefined : redis.release(hold).catch(failed)]);
    },
    giveBack: (rate) => ask((store) => store.giveBack(rate)),
    inUse: (names) => ask((store) => store.inUse(names)),
    close() {
      closed = true;
      cancelProbe();
      redis.close();
    },
  };
}
