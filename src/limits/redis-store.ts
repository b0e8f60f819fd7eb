/**
 * Limits in Redis: one run of one script an admission, on Redis' clock. Every command answers or fails within 250 ms;
 * while the connection is away they fail at once, and nothing is kept for later. Made by `open-stores.ts`
 * when REDIS_URL is set.
 */
import { Redis } from 'ioredis';
import type { Admission, AdmissionAnswer, LimitStore } from './limit-store.ts';
import { LIMITS_SCRIPT, REDIS_PREFIX } from './redis-script.ts';

export interface RedisStore extends LimitStore {
  readonly kind: 'redis';
  /** Resolves when Redis answers within the limit; rejects else. */
  ping(): Promise<void>;
  /** Idempotent; never waits for Redis. */
  close(): void;
}

/** Answers of a healthy Redis in the same network take 1 ms; who waits for a limit is somebody's request. */
export const REDIS_LIMIT_MS = 250;
const CONNECT_LIMIT_MS = 1_000;
const LONGEST_RECONNECT_PAUSE_MS = 2_000;
/** A script stops Redis while it runs, so what is renewed goes in pieces. */
const RENEW_PIECE = 500;

export interface RedisStoreOptions {
  url: string;
  /** Told about each change for the worse; never rejects a request by itself. */
  onTrouble(error: Error): void;
  prefix?: string;
  /** Default: `REDIS_LIMIT_MS`. */
  limitMs?: number;
}

interface ScriptedRedis extends Redis {
  parleyLimits(key: string, ...args: (string | number)[]): Promise<number[]>;
}

export function createRedisStore(options: RedisStoreOptions): RedisStore {
  const prefix = options.prefix ?? REDIS_PREFIX;
  let closed = false;
  const redis = new Redis(options.url, {
    connectTimeout: CONNECT_LIMIT_MS,
    commandTimeout: options.limitMs ?? REDIS_LIMIT_MS,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    retryStrategy: (tries) => (closed ? null : Math.min(tries * 100, LONGEST_RECONNECT_PAUSE_MS)),
  }) as ScriptedRedis;
  redis.on('error', options.onTrouble);
  redis.defineCommand('parleyLimits', { numberOfKeys: 1, lua: LIMITS_SCRIPT });
  const run = (...args: (string | number)[]): Promise<number[]> => redis.parleyLimits(prefix, ...args);

  return {
    kind: 'redis',
    async admit({ rates, slots, holder, ttlMs }: Admission): Promise<AdmissionAnswer> {
      const [refused = 0, index = 0, ...seen] = await run(
        'admit',
        rates.length,
        slots.length,
        holder,
        Math.ceil(ttlMs * 1000),
        ...rates.flatMap((rate) => [rate.name, rate.periodUs, rate.toleranceUs]),
        ...slots.flatMap((slot) => [slot.name, slot.limit]),
      );
      const found = { tatsUs: seen.slice(0, rates.length), inUse: seen.slice(rates.length) };
      if (refused === 0) return { ok: true, ...found };
      return { ok: false, refused: refused === 1 ? 'rate' : 'slot', index: index - 1, ...found };
    },
    async renew(holds, ttlMs) {
      const pairs = holds.flatMap(({ holder, names }) => names.map((name) => [holder, name]));
      for (let at = 0; at < pairs.length; at += RENEW_PIECE) {
        await run('renew', Math.ceil(ttlMs * 1000), ...pairs.slice(at, at + RENEW_PIECE).flat());
      }
    },
    async release({ holder, names }) {
      await run('release', holder, ...names);
    },
    async giveBack({ name, periodUs }) {
      await run('give_back', name, periodUs);
    },
    inUse: (names) => run('in_use', ...names),
    async ping() {
      await redis.ping();
    },
    close() {
      closed = true;
      redis.disconnect();
    },
  };
}
