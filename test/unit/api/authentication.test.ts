import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Authentication, type Authenticator, createAuthenticator } from '../../../src/api/authentication.ts';
import { createFailedAuthThrottle } from '../../../src/api/failed-auth-throttle.ts';
import type { Admission } from '../../../src/limits/limit-store.ts';
import type { Database } from '../../../src/store/database.ts';
import { makeApiKey } from '../../../src/workspaces/api-key-format.ts';
import { createApiKey, listApiKeys, revokeApiKey } from '../../../src/workspaces/api-keys.ts';
import { createWorkspace, setApiEnabled } from '../../../src/workspaces/workspaces.ts';
import { eventually } from '../../support/eventually.ts';
import { createMemoryLimitStore } from '../../support/fakes/memory-limit-store.ts';
import { type OpenTestDatabase, openTestDatabase } from '../../support/test-database.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

let test: OpenTestDatabase;
let database: Database;
let queries = 0;
/** Of them, those that note a key's use. */
let notes = 0;
let slugs = 0;

beforeAll(async () => {
  test = await openTestDatabase();
  database = test.database;
});
afterAll(() => test.close());

const ADDRESS = '203.0.113.9';

async function setUp(key: { allowedCidrs?: string[]; expiresAt?: Date } = {}) {
  const slug = `w${++slugs}`;
  await createWorkspace(database, { slug, name: slug });
  await setApiEnabled(database, { slug, enabled: true });
  const made = await createApiKey(database, { slug, name: 'k', scopes: ['calls:read'], ...key });
  const clock = new VirtualClock(Date.now());
  const counted = {
    query: <Row extends object>(sql: string, parameters?: readonly unknown[]): Promise<Row[]> => {
      queries++;
      if (sql.includes('SET last_used_at')) notes++;
      return database.query<Row>(sql, parameters);
    },
  };
  const authenticator = createAuthenticator({
    database: counted,
    clock,
    log: pino({ level: 'silent' }),
    limitStore: createMemoryLimitStore(clock),
  });
  const ask = async (text: string | null = made.text, address = ADDRESS): Promise<string> => {
    const answer = await settled(authenticator, text, address, clock);
    return answer.ok ? answer.principal.slug : answer.why;
  };
  return { slug, key: made, clock, ask, authenticator };
}

/** Lets the half second pass that a shut address waits. */
async function settled(
  authenticator: Authenticator,
  text: string | null,
  address: string,
  clock: VirtualClock,
): Promise<Authentication> {
  let answer: Authentication | undefined;
  const asked = authenticator.authenticate(text === null ? undefined : `Bearer ${text}`, address).then((given) => {
    answer = given;
  });
  while (answer === undefined) {
    await new Promise(setImmediate);
    if (answer === undefined && clock.pendingTimers > 0) clock.advanceMs(500);
  }
  await asked;
  return answer;
}

describe('authentication', () => {
  it('refuses a wrong checksum without a query, and a right checksum with an unknown id or secret after one', async () => {
    const { slug, key, ask } = await setUp();
    queries = 0;
    expect(await ask(`${key.text.slice(0, -1)}${key.text.endsWith('0') ? '1' : '0'}`)).toBe('unauthorized');
    expect(queries).toBe(0);
    expect(await ask(makeApiKey().text)).toBe('unauthorized');
    expect(queries).toBe(1);
    expect(await ask()).toBe(slug);
    // The right id with another secret, its checksum made right again.
    const other = makeApiKey((bytes) => Buffer.alloc(bytes, 3)).text;
    expect(await ask(other)).toBe('unauthorized');
  });

  it('holds a revocation after 1 s at the latest, and asks the database once a second', async () => {
    const { slug, key, clock, ask } = await setUp();
    await ask();
    queries = 0;
    for (let times = 0; times < 50; times++) expect(await ask()).toBe(slug);
    expect(queries).toBe(0);
    await revokeApiKey(database, { slug, keyId: key.keyId });
    clock.advanceMs(999);
    expect(await ask()).toBe(slug);
    clock.advanceMs(1);
    expect(await ask()).toBe('unauthorized');
  });

  it('holds an expiry to the millisecond, although the row is cached', async () => {
    const expiresAt = new Date(Date.now() + 60_000);
    const { slug, clock, ask } = await setUp({ expiresAt });
    clock.setEpochMs(expiresAt.getTime() - 1);
    expect(await ask()).toBe(slug);
    clock.setEpochMs(expiresAt.getTime());
    expect(await ask()).toBe('unauthorized');
  });

  it('lets only the allowed ranges in, IPv4 inside IPv6 too', async () => {
    const { slug, ask } = await setUp({ allowedCidrs: ['203.0.113.0/24', '2001:db8::/32'] });
    for (const address of ['203.0.113.255', '::ffff:203.0.113.7', '2001:db8::1']) {
      expect(await ask(undefined, address), address).toBe(slug);
    }
    for (const address of ['203.0.114.1', '2001:db9::1', 'local', '']) {
      expect(await ask(undefined, address), address).toBe('unauthorized');
    }
  });

  it('notes the use of a key at most once a minute', async () => {
    const { slug, clock, ask } = await setUp();
    const lastUsedAt = async (): Promise<Date | null> => (await listApiKeys(database, { slug }))[0]!.lastUsedAt;
    // The note of a key that was not known is not awaited by the request.
    notes = 0;
    await ask();
    await eventually('the note', lastUsedAt);
    await database.query(`UPDATE api_keys SET last_used_at = now() - interval '1 hour'`);
    const marked = (await lastUsedAt())!.getTime();
    clock.advanceMs(59_999);
    await ask();
    expect(notes).toBe(1);
    // Nor of one that was looked at within this second.
    clock.advanceMs(1);
    await ask();
    expect(notes).toBe(2);
    await eventually('the second note', async () => (await lastUsedAt())!.getTime() > marked);
  });

  it('notes the use of a known key in the statement that looks at it', async () => {
    const { slug, clock, ask } = await setUp();
    const lastUsedAt = async (): Promise<Date | null> => (await listApiKeys(database, { slug }))[0]!.lastUsedAt;
    await ask();
    await eventually('the note', lastUsedAt);
    await database.query(`UPDATE api_keys SET last_used_at = now() - interval '1 hour'`);
    const marked = (await lastUsedAt())!.getTime();
    clock.advanceMs(60_000);
    queries = 0;
    await ask();
    expect(queries).toBe(1);
    expect((await lastUsedAt())!.getTime()).toBeGreaterThan(marked);
  });

  it('notes no use of a known key from where it may not be used, or that was revoked', async () => {
    const { slug, key, clock, ask } = await setUp({ allowedCidrs: ['203.0.113.0/24'] });
    await ask();
    // Nobody waits for the note of it: it may be written after the answer.
    await eventually('its use to be noted', async () => (await listApiKeys(database, { slug }))[0]?.lastUsedAt);
    await database.query(`UPDATE api_keys SET last_used_at = now() - interval '1 hour'`);
    const lastUsedAt = async (): Promise<number> => (await listApiKeys(database, { slug }))[0]!.lastUsedAt!.getTime();
    const marked = await lastUsedAt();
    clock.advanceMs(60_000);
    expect(await ask(undefined, '198.51.100.1')).toBe('unauthorized');
    await database.query('UPDATE api_keys SET revoked_at = now() WHERE key_id = $1', [key.keyId]);
    clock.advanceMs(1_000);
    expect(await ask()).toBe('unauthorized');
    expect(await lastUsedAt()).toBe(marked);
  });

  it('hears 20 wrong keys a minute from one address, then none for 3 s, without a query; a known key goes on', async () => {
    const { slug, clock, ask } = await setUp();
    expect(await ask()).toBe(slug);
    for (let times = 0; times < 20; times++) expect(await ask(makeApiKey().text)).toBe('unauthorized');
    queries = 0;
    expect(await ask(makeApiKey().text)).toBe('throttled');
    expect(await ask('nonsense')).toBe('throttled');
    expect(await ask(null)).toBe('throttled');
    expect(queries).toBe(0);
    expect(await ask()).toBe(slug);
    expect(await ask(makeApiKey().text, '198.51.100.1')).toBe('unauthorized');
    clock.advanceMs(1_500);
    expect(await ask(makeApiKey().text)).toBe('unauthorized');
    expect(await ask(makeApiKey().text)).toBe('throttled');
  });

  it('lets a new key in that comes in 100 requests at once, and hears a wrong one of them 20 times', async () => {
    const { key, ask, authenticator } = await setUp();
    queries = 0;
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => authenticator.authenticate(`Bearer ${key.text}`, ADDRESS)),
    );
    expect(answers.map(({ ok }) => ok)).toEqual(answers.map(() => true));
    expect(queries).toBeLessThanOrEqual(2);
    const wrong = makeApiKey().text;
    const refused = await Promise.all(Array.from({ length: 30 }, () => ask(wrong)));
    expect(refused.filter((why) => why === 'unauthorized')).toHaveLength(20);
    expect(refused.filter((why) => why === 'throttled')).toHaveLength(10);
    expect(await ask()).not.toBe('throttled');
  });

  it('counts no guess where a key could not be looked up, and fails for all that came with it', async () => {
    const { key, clock } = await setUp();
    let isAway = true;
    const flaky = {
      query: <Row extends object>(sql: string, parameters?: readonly unknown[]): Promise<Row[]> =>
        isAway ? Promise.reject(new Error('away')) : database.query<Row>(sql, parameters),
    };
    const limitStore = createMemoryLimitStore(clock);
    const log = pino({ level: 'silent' });
    const authenticator = createAuthenticator({ database: flaky, clock, log, limitStore });
    for (let burst = 0; burst < 3; burst++) {
      const all = Array.from({ length: 30 }, () => authenticator.authenticate(`Bearer ${key.text}`, ADDRESS));
      const outcomes = await Promise.allSettled(all);
      expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(30);
    }
    isAway = false;
    expect((await authenticator.authenticate(`Bearer ${key.text}`, ADDRESS)).ok).toBe(true);
  });

  it('refuses from a shut address after half a second, whatever is wrong, and says when the next key is heard', async () => {
    const { key, clock, ask, authenticator } = await setUp();
    for (let times = 0; times < 20; times++) await ask(makeApiKey().text);
    const wrongSecret = makeApiKey((bytes) => Buffer.alloc(bytes, 7)).text;
    for (const text of [makeApiKey().text, wrongSecret, key.text.slice(0, -1), 'nonsense', null]) {
      const beganMs = clock.nowMs();
      let answer: Authentication | undefined;
      const asked = authenticator.authenticate(text === null ? undefined : `Bearer ${text}`, ADDRESS).then((given) => {
        answer = given;
      });
      while (clock.pendingTimers === 0) await new Promise(setImmediate);
      clock.advanceMs(499);
      await new Promise(setImmediate);
      expect(answer).toBeUndefined();
      clock.advanceMs(1);
      await asked;
      expect(answer).toMatchObject({ ok: false, why: 'throttled', retryAfterSeconds: expect.any(Number) });
      expect(clock.nowMs() - beganMs).toBe(500);
    }
  });

  it('lets a key that was in use before this process started go on from an address that is shut', async () => {
    const { slug, ask, authenticator } = await setUp();
    await authenticator.warm();
    for (let times = 0; times < 20; times++) await ask(makeApiKey().text);
    expect(await ask(makeApiKey().text)).toBe('throttled');
    expect(await ask()).toBe(slug);
    const stranger = await setUp();
    expect(await ask(stranger.key.text)).toBe('throttled');
  });

  it('does not count requests that show no key at all', async () => {
    const clock = new VirtualClock();
    const authenticator = createAuthenticator({
      database,
      clock,
      log: pino({ level: 'silent' }),
      limitStore: createMemoryLimitStore(clock),
    });
    for (let times = 0; times < 100; times++) {
      expect(await authenticator.authenticate(undefined, ADDRESS)).toEqual({ ok: false, why: 'unauthorized' });
    }
  });
});

describe('the throttle of failed authentications', () => {
  it('hears 20 wrong keys in a minute, of which some came over another node, and 20 right ones beside them', async () => {
    const clock = new VirtualClock();
    const store = createMemoryLimitStore(clock);
    const [here, there] = [createFailedAuthThrottle({ clock, store }), createFailedAuthThrottle({ clock, store })];
    for (let times = 0; times < 10; times++)
      expect([await here.take(ADDRESS), await there.take(ADDRESS)]).toEqual([0, 0]);
    expect([await here.take(ADDRESS), await there.take(ADDRESS)]).toEqual([3, 3]);
    here.giveBack(ADDRESS);
    expect(await here.take(ADDRESS)).toBe(0);
    expect(await there.take(ADDRESS)).toBe(3);
  });

  it('shuts an address for 3 s, however long it goes on, and asks the store no more than 21 times', async () => {
    const clock = new VirtualClock();
    const store = createMemoryLimitStore(clock);
    let asked = 0;
    const admit = (admission: Admission) => {
      asked += 1;
      return store.admit(admission);
    };
    const counted = { ...store, admit };
    const throttle = createFailedAuthThrottle({ clock, store: counted });
    for (let times = 0; times < 5_000; times++) await throttle.take(ADDRESS);
    expect(await throttle.take(ADDRESS)).toBe(3);
    expect(asked).toBeLessThanOrEqual(21);
    clock.advanceMs(3_000);
    expect(await throttle.take(ADDRESS)).toBe(0);
  });

  it('hears 20 wrong secrets a minute for one key, from however many addresses; other keys go on, and so do both nodes', async () => {
    const clock = new VirtualClock();
    const store = createMemoryLimitStore(clock);
    const [here, there] = [createFailedAuthThrottle({ clock, store }), createFailedAuthThrottle({ clock, store })];
    for (let guess = 0; guess < 20; guess++) expect(await here.take(`198.51.100.${guess}`, 'AAAAAAAA')).toBe(0);
    expect(await here.take('203.0.113.1', 'AAAAAAAA')).toBe(3);
    expect(await there.take('203.0.113.2', 'AAAAAAAA')).toBe(3);
    expect(await here.take('203.0.113.1', 'BBBBBBBB')).toBe(0);
    expect(await here.take('203.0.113.1')).toBe(0);
    here.giveBack('198.51.100.1', 'AAAAAAAA');
    expect(await here.take('203.0.113.3', 'AAAAAAAA')).toBe(0);
    expect(await here.take('203.0.113.4', 'AAAAAAAA')).toBe(3);
  });

  it('goes on by itself while the store is away', async () => {
    const clock = new VirtualClock();
    const away = { ...createMemoryLimitStore(clock), admit: () => Promise.reject(new Error('away')) };
    const throttle = createFailedAuthThrottle({ clock, store: away });
    for (let times = 0; times < 20; times++) expect(await throttle.take(ADDRESS)).toBe(0);
    expect(await throttle.take(ADDRESS)).toBe(3);
  });

  it('counts all addresses of one IPv6 network of 64 bits as one, and IPv4 in IPv6 as IPv4', async () => {
    const clock = new VirtualClock();
    const throttle = createFailedAuthThrottle({ clock, store: createMemoryLimitStore(clock) });
    for (let host = 1; host <= 20; host++) expect(await throttle.take(`2001:db8:1:2::${host.toString(16)}`)).toBe(0);
    expect(await throttle.take('2001:DB8:1:2:ffff:0:0:1')).toBe(3);
    expect(await throttle.take('2001:db8:1:3::1')).toBe(0);
    for (let times = 0; times < 10; times++) await throttle.take('::ffff:192.0.2.1');
    for (let times = 0; times < 10; times++) await throttle.take('192.0.2.1');
    expect(await throttle.take('192.0.2.1')).toBe(3);
  });

  it('remembers 10,000 addresses by itself and forgets the one that was quiet longest', async () => {
    const clock = new VirtualClock();
    const forgetful = { ...createMemoryLimitStore(clock), admit: () => Promise.reject(new Error('away')) };
    const throttle = createFailedAuthThrottle({ clock, store: forgetful });
    for (let times = 0; times < 20; times++) await throttle.take(ADDRESS);
    for (let address = 0; address < 9_999; address++) await throttle.take(`a${address}`);
    expect(await throttle.take(ADDRESS)).toBe(3);
    await throttle.take('one more');
    expect(await throttle.take(ADDRESS)).toBe(0);
  });
});
