import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { createFailoverStore } from '../../../src/limits/failover-store.ts';
import { perMinute } from '../../../src/limits/gcra.ts';
import { takeFromRate } from '../../../src/limits/rate-limit.ts';
import { createRedisStore, REDIS_LIMIT_MS } from '../../../src/limits/redis-store.ts';
import { NO_REDIS, startOwnRedis } from '../../harness/redis-server.ts';
import { eventually } from '../../support/eventually.ts';
import { createMemoryLimitStore } from '../../support/fakes/memory-limit-store.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const log = pino({ level: 'silent' });

/** Redis that answers or not as the test says; counts what it was asked. */
function setUp() {
  const clock = new VirtualClock();
  const state = { away: false, asked: 0, askedBehind: 0, pings: 0 };
  const inner = createMemoryLimitStore(clock);
  const behind = createMemoryLimitStore(clock);
  const fail = (): Promise<never> => Promise.reject(new Error('Command timed out'));
  const redis = {
    ...inner,
    kind: 'redis' as const,
    admit: (admission: Parameters<typeof inner.admit>[0]) => {
      state.asked += 1;
      return state.away ? fail() : inner.admit(admission);
    },
    ping: () => {
      state.pings += 1;
      return state.away ? fail() : Promise.resolve();
    },
    close: () => {},
  };
  const postgres = {
    ...behind,
    admit: (admission: Parameters<typeof inner.admit>[0]) => {
      state.askedBehind += 1;
      return behind.admit(admission);
    },
  };
  const store = createFailoverStore({ redis, postgres, clock, log });
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { clock, state, store, settled };
}

const take = (store: Parameters<typeof takeFromRate>[0], name = 'n') => takeFromRate(store, name, perMinute(600));

describe('Redis in front of PostgreSQL', () => {
  it('decides alone while it answers', async () => {
    const { state, store } = setUp();
    for (let times = 0; times < 10; times++) expect((await take(store)).ok).toBe(true);
    expect(state).toMatchObject({ asked: 10, askedBehind: 0 });
  });

  it('is asked three times in vain, then not at all until two pings a second apart were answered', async () => {
    const { clock, state, store, settled } = setUp();
    state.away = true;
    for (let times = 0; times < 10; times++) expect((await take(store)).ok).toBe(true);
    expect(state).toMatchObject({ asked: 3, askedBehind: 10, pings: 0 });
    expect(store.serving()).toBe('postgres');
    clock.advanceMs(1_000);
    await settled();
    state.away = false;
    clock.advanceMs(1_000);
    await settled();
    await take(store);
    expect(state).toMatchObject({ asked: 3, pings: 2 });
    clock.advanceMs(1_000);
    await settled();
    expect(store.serving()).toBe('redis');
    await take(store);
    expect(state.asked).toBe(4);
    store.close();
  });

  it('forgives two failures in a row', async () => {
    const { state, store } = setUp();
    for (let round = 0; round < 5; round++) {
      state.away = true;
      await take(store);
      await take(store);
      state.away = false;
      await take(store);
    }
    expect(store.serving()).toBe('redis');
    expect(state).toMatchObject({ asked: 15, askedBehind: 10 });
  });

  it('refuses, and does not hang, when neither answers', async () => {
    const clock = new VirtualClock();
    const nobody = { ...createMemoryLimitStore(clock), admit: () => Promise.reject(new Error('away')) };
    const redis = { ...nobody, kind: 'redis' as const, ping: () => Promise.reject(new Error('away')), close: () => {} };
    const store = createFailoverStore({ redis, postgres: nobody, clock, log });
    await expect(take(store)).rejects.toThrow('away');
    store.close();
  });
});

const redisServer = await startOwnRedis();
describe.skipIf(redisServer === null)(redisServer === null ? `a real Redis: ${NO_REDIS}` : 'a real Redis', () => {
  it('that stands still, dies and comes back empty is waited for at most three times, 250 ms each, and limits hold', async () => {
    const server = redisServer!;
    const timers: (() => void)[] = [];
    const inner = createRedisStore({ url: server.url, onTrouble: () => {} });
    let failed = 0;
    const redis = {
      ...inner,
      admit: (admission: Parameters<typeof inner.admit>[0]) =>
        inner.admit(admission).catch((error: unknown) => {
          failed += 1;
          throw error;
        }),
    };
    const postgres = createMemoryLimitStore({ nowMs: () => performance.now() });
    const store = createFailoverStore({
      redis,
      postgres,
      clock: {
        after: (_ms, run) => {
          timers.push(run);
          return () => {};
        },
      },
      log,
    });
    const passed = async (name: string): Promise<number> => {
      let count = 0;
      for (let times = 0; times < 8; times++) {
        if ((await takeFromRate(store, name, { perSecond: 0.001, burst: 3 })).ok) count += 1;
      }
      return count;
    };
    /** Of a pass in which Redis answered in time: what it answers late it has counted, and the other lets through. */
    const passedByRedis = async (name: string): Promise<number> => {
      for (let times = 0; ; times++) {
        const count = await passed(`${name}, try ${times}`);
        if (failed === 0) return count;
        await backToRedis();
      }
    };
    const backToRedis = async (): Promise<void> => {
      await eventually('Redis to serve', () => {
        timers.shift()?.();
        return store.serving() === 'redis';
      });
      failed = 0;
    };
    try {
      await passed('warm');
      await backToRedis();
      expect(await passedByRedis('a')).toBe(3);

      server.pause();
      expect(await passed('b')).toBe(3);
      expect(store.serving()).toBe('postgres');
      expect(failed).toBe(3);
      server.resume();
      await backToRedis();
      expect(await passed('b')).toBeLessThanOrEqual(3);
      await passedByRedis('before it dies');

      await server.kill();
      expect(await passed('c')).toBe(3);
      expect(store.serving()).toBe('postgres');
      expect(failed).toBe(3);
      await server.start();
      await backToRedis();
      // Its memory is gone, so a burst may come once more; never a third.
      expect((await passed('c')) + (await passed('c'))).toBeLessThanOrEqual(3);
      expect(await passedByRedis('d')).toBe(3);
      expect(REDIS_LIMIT_MS).toBe(250);
    } finally {
      store.close();
      await server.close();
    }
  });
});
