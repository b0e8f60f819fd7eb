/**
 * Chooses the stores of limits: PostgreSQL alone, or Redis in front of it when REDIS_URL is set, with the keeper that
 * holds Redis' view of calls true. Called once by `src/control/ground.ts`, which closes it before the database.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import type { Queryable } from '../store/database.ts';
import { createFailoverStore } from './failover-store.ts';
import type { LimitStore } from './limit-store.ts';
import { createPostgresStore } from './postgres-store.ts';
import type { LimitStores } from './slot-admission.ts';
import { type CountedCall, holdOf, startSlotKeeper } from './slot-keeper.ts';

export interface OpenLimitStores extends LimitStores {
  /** A call is over: its slot is free now, not in 45 s. Never throws, never waits. */
  callEnded(call: CountedCall): void;
  /** Who decides now. */
  serving(): 'postgres' | 'redis';
  /** Idempotent. */
  close(): void;
}

export async function openLimitStores(deps: {
  database: Queryable;
  redisUrl: string | null;
  clock: Clock;
  log: Logger;
}): Promise<OpenLimitStores> {
  const { database, redisUrl, clock } = deps;
  const log = deps.log.child({ part: 'limits' });
  const postgres: LimitStore = createPostgresStore(database);
  if (redisUrl === null) {
    return { store: postgres, postgres, callEnded() {}, serving: () => 'postgres', close() {} };
  }
  // Here alone: who has no Redis need not read its client.
  const { createRedisStore } = await import('./redis-store.ts');
  const redis = createRedisStore({
    url: redisUrl,
    onTrouble: (error) => log.debug({ err: error }, 'the connection to Redis for limits has a fault'),
  });
  const store = createFailoverStore({ redis, postgres, clock, log });
  const keeper = startSlotKeeper({ database, redis, clock, log });
  return {
    store,
    postgres,
    callEnded(call) {
      if (store.serving() === 'redis') redis.release(holdOf(call)).catch(() => {});
    },
    serving: store.serving,
    close() {
      keeper.close();
      store.close();
    },
  };
}
