import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PATIENCE_MS } from '../../../bench/harness/patience.ts';
import { systemClock } from '../../../media/contract/clock.ts';
import { rateAsk } from '../../../src/limits/gcra.ts';
import { createPostgresStore, purgeLimits } from '../../../src/limits/postgres-store.ts';
import { takeFromRate } from '../../../src/limits/rate-limit.ts';
import { createRedisStore, type RedisStore } from '../../../src/limits/redis-store.ts';
import type { Database } from '../../../src/store/database.ts';
import { NO_REDIS, type OwnRedis, startOwnRedis } from '../../harness/redis-server.ts';
import { eventually } from '../../support/eventually.ts';
import { createMemoryLimitStore } from '../../support/fakes/memory-limit-store.ts';
import { type OpenTestDatabase, openTestDatabase } from '../../support/test-database.ts';
import { holdStoreToItsPort } from './limit-store-suite.ts';

describe('limits in memory', () => {
  const store = createMemoryLimitStore(systemClock);
  holdStoreToItsPort(() => store);
});

describe('limits in PostgreSQL', () => {
  let test: OpenTestDatabase;
  let database: Database;
  beforeAll(async () => {
    test = await openTestDatabase({ maxConnections: 12 });
    database = test.database;
  });
  afterAll(() => test.close());
  holdStoreToItsPort(() => createPostgresStore(database));

  it.each([
    ['moved', `INSERT INTO rate_limits (name, tat) VALUES ('moved', now() - interval '1 s')`],
    ['made', 'SELECT 1'],
  ])('advises by what refused it, also when that was %s after the statement had begun', async (raced, before) => {
    await database.query(before);
    const began = performance.now();
    const { asked } = await database.transaction(async (tx) => {
      await tx.query(
        `INSERT INTO rate_limits (name, tat) VALUES ($1, clock_timestamp() + interval '40 s')
         ON CONFLICT (name) DO UPDATE SET tat = excluded.tat`,
        [raced],
      );
      const ask = rateAsk(raced, { perSecond: 1, burst: 1 });
      const asked = createPostgresStore(database).admit({ rates: [ask], slots: [], holder: '', ttlMs: 0 });
      const waiting = `SELECT 1 AS one FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      await eventually('the lock to be waited for', async () => (await database.query(waiting)).length > 0);
      return { asked: [asked] };
    });
    const answer = await asked[0]!;
    expect(answer).toMatchObject({ ok: false, refused: 'rate' });
    // Some time passed since the row was written; the rest of the 40 s is still to wait.
    expect(answer.tatsUs[0]).toBeGreaterThan(39_000_000 - (performance.now() - began) * 1_000);
  });

  it('forgets names that nobody uses any more', async () => {
    await takeFromRate(createPostgresStore(database), 'old', { perSecond: 1, burst: 1 });
    await database.query(`UPDATE rate_limits SET tat = now() - interval '2 minutes' WHERE name = 'old'`);
    await purgeLimits(database);
    expect(await database.query(`SELECT 1 AS one FROM rate_limits WHERE name = 'old'`)).toEqual([]);
  });
});

const redis: OwnRedis | null = await startOwnRedis();
afterAll(() => redis?.close());

describe.skipIf(redis === null)(redis === null ? `limits in Redis: ${NO_REDIS}` : 'limits in Redis', () => {
  let store: RedisStore;
  beforeAll(async () => {
    store = createRedisStore({ url: redis!.url, onTrouble: () => {}, limitMs: PATIENCE_MS });
    const answers = (): Promise<boolean> =>
      store.ping().then(
        () => true,
        () => false,
      );
    await eventually('an answer of Redis', answers);
  });
  afterAll(() => store.close());
  holdStoreToItsPort(() => store);

  it('leaves no key behind that does not end by itself', async () => {
    const { Redis } = await import('ioredis');
    const raw = new Redis(redis!.url);
    const keys = await raw.keys('*');
    expect(keys.length).toBeGreaterThan(0);
    for (const key of keys) expect(await raw.pttl(key), key).toBeGreaterThan(0);
    raw.disconnect();
  });
});
