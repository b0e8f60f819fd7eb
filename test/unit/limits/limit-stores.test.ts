import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NO_REDIS, type OwnRedis, startOwnRedis } from '../../../bench/harness/redis-server.ts';
import { systemClock } from '../../../media/contract/clock.ts';
import { createPostgresStore, purgeLimits } from '../../../src/limits/postgres-store.ts';
import { takeFromRate } from '../../../src/limits/rate-limit.ts';
import { createRedisStore, type RedisStore } from '../../../src/limits/redis-store.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { createMemoryLimitStore } from '../../support/fakes/memory-limit-store.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';
import { holdStoreToItsPort } from './limit-store-suite.ts';

describe('limits in memory', () => {
  const store = createMemoryLimitStore(systemClock);
  holdStoreToItsPort(() => store);
});

describe('limits in PostgreSQL', () => {
  let test: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    test = await createTestDatabase();
    database = openDatabase({ connectionString: test.connectionString, maxConnections: 12, onIdleError: () => {} });
  });
  afterAll(async () => {
    await database.close();
    await test.close();
  });
  holdStoreToItsPort(() => createPostgresStore(database));

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
    store = createRedisStore({ url: redis!.url, onTrouble: () => {} });
    for (let tries = 0; tries < 100; tries++) {
      if (
        await store.ping().then(
          () => true,
          () => false,
        )
      )
        return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
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
