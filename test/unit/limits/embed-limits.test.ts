import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../media/contract/clock.ts';
import { createEmbedLimits, type EmbedAnswer, type EmbedLimits } from '../../../src/limits/embed-limits.ts';
import { slotNames } from '../../../src/limits/limit-names.ts';
import { createPostgresStore } from '../../../src/limits/postgres-store.ts';
import type { Database } from '../../../src/store/database.ts';
import { createWorkspace, setWorkspaceLimits } from '../../../src/workspaces/workspaces.ts';
import { createMemoryLimitStore } from '../../support/fakes/memory-limit-store.ts';
import { longPromises } from '../../support/long-promises.ts';
import { type OpenTestDatabase, openTestDatabase } from '../../support/test-database.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

let test: OpenTestDatabase;
let database: Database;
let limits: EmbedLimits;
let workspaceId: string;
let count = 0;
let slug: string;

beforeAll(async () => {
  test = await openTestDatabase({ maxConnections: 12 });
  database = test.database;
  const postgres = longPromises(createPostgresStore(database));
  limits = createEmbedLimits({ store: postgres, postgres, database, clock: systemClock });
});
afterAll(() => test.close());
beforeEach(async () => {
  slug = `w${count++}`;
  workspaceId = (await createWorkspace(database, { slug, name: slug })).id;
});

const session = (address: string, publicKey = `pk_${count}`) => ({
  address,
  publicKey,
  workspaceId,
  callUuid: uuidv7(),
});
const codes = (answers: EmbedAnswer[]): string[] =>
  answers.map((answer) => (answer.ok ? 'ok' : answer.code)).toSorted();

/** Rates on a clock that stands still: how long the machine takes earns nobody another one. */
const standing = (): EmbedLimits => {
  const store = createMemoryLimitStore(new VirtualClock());
  return createEmbedLimits({ store, postgres: store, database, clock: systemClock });
};

describe('the limits of embed sessions', () => {
  it('gives an address 5 at once, and another when one ends', async () => {
    await setWorkspaceLimits(database, { slug, limits: { concurrentCalls: 100, webSessions: 100 } });
    const sessions = Array.from({ length: 8 }, () => session('198.51.100.1'));
    const answers = await Promise.all(sessions.map((one) => limits.take(one)));
    expect(answers.filter((answer) => answer.ok)).toHaveLength(5);
    const refused = answers.find((answer) => !answer.ok);
    expect(refused).toMatchObject({
      code: 'concurrency_limit',
      headers: { 'ratelimit-policy': '"concurrent";q=5' },
    });
    await limits.release(sessions[answers.findIndex((answer) => answer.ok)]!);
    expect(await limits.take(session('198.51.100.1'))).toEqual({ ok: true });
  });

  it('gives an address 10 a minute, then says to come again after 6 s', async () => {
    const limits = standing();
    for (let times = 0; times < 10; times++) {
      expect(await limits.ask(session('198.51.100.2', `pk_${count}_${times}`))).toEqual({ ok: true });
    }
    expect(await limits.ask(session('198.51.100.2'))).toEqual({
      ok: false,
      code: 'embed_rate_limit',
      retryAfterSeconds: 6,
      headers: { 'ratelimit-policy': '"embed";q=10;w=60', ratelimit: '"embed";r=0;t=6' },
    });
  });

  it('gives a public key 60 a minute, from whatever addresses', async () => {
    const limits = standing();
    const answers: EmbedAnswer[] = [];
    for (let times = 0; times < 62; times++) answers.push(await limits.ask(session(`203.0.113.${times}`)));
    expect(codes(answers.slice(0, 60))).toEqual(new Array(60).fill('ok'));
    expect(codes(answers.slice(60))).toEqual(['embed_rate_limit', 'embed_rate_limit']);
  });

  it('never takes the share of the workspace that is reserved for phones', async () => {
    await setWorkspaceLimits(database, { slug, limits: { concurrentCalls: 6, reservedPhoneCalls: 2, webSessions: 5 } });
    const answers = await Promise.all(Array.from({ length: 9 }, (_none, at) => limits.take(session(`192.0.2.${at}`))));
    expect(answers.filter((answer) => answer.ok)).toHaveLength(4);
    await setWorkspaceLimits(database, { slug, limits: { reservedPhoneCalls: 0 } });
    expect(await limits.take(session('192.0.2.77'))).toEqual({ ok: true });
    expect(await limits.take(session('192.0.2.78'))).toMatchObject({ ok: false, code: 'concurrency_limit' });
  });

  it('keeps half of the calls, rounded up, for the phone until somebody says otherwise', async () => {
    await setWorkspaceLimits(database, { slug, limits: { concurrentCalls: 5, webSessions: 5 } });
    const asked = Array.from({ length: 5 }, (_none, at) => session(`192.0.2.${at}`));
    const answers = await Promise.all(asked.map((one) => limits.take(one)));
    expect(answers.filter((answer) => answer.ok)).toHaveLength(2);
    await setWorkspaceLimits(database, { slug, limits: { reservedPhoneCalls: 0 } });
    expect(await limits.take(session('192.0.2.77'))).toEqual({ ok: true });
    const { limits: now } = await setWorkspaceLimits(database, { slug, limits: { reservedPhoneCalls: null } });
    expect(now.reservedPhoneCalls).toBe(3);
  });

  it('lets the only call of a workspace be a web session, unless it is kept for the phone', async () => {
    const { limits: one } = await setWorkspaceLimits(database, { slug, limits: { concurrentCalls: 1 } });
    expect(one.reservedPhoneCalls).toBe(0);
    await setWorkspaceLimits(database, { slug, limits: { reservedPhoneCalls: 1 } });
    expect(await limits.take(session('192.0.2.1'))).toMatchObject({ ok: false, code: 'concurrency_limit' });
    await setWorkspaceLimits(database, { slug, limits: { reservedPhoneCalls: null } });
    expect(await limits.take(session('192.0.2.1'))).toEqual({ ok: true });
    expect(await limits.take(session('192.0.2.2'))).toMatchObject({ ok: false, code: 'concurrency_limit' });
    const { limits: none } = await setWorkspaceLimits(database, { slug, limits: { concurrentCalls: 0 } });
    expect(none.reservedPhoneCalls).toBe(0);
  });

  it('gives web sessions their half whatever the phone does with its own', async () => {
    await setWorkspaceLimits(database, { slug, limits: { concurrentCalls: 4, webSessions: 4 } });
    const store = createPostgresStore(database);
    const phone = (): Promise<{ ok: boolean }> =>
      store.admit({
        rates: [],
        slots: [{ name: slotNames.workspaceCalls(workspaceId), limit: 4 }],
        holder: uuidv7(),
        ttlMs: 60_000,
      });
    expect([(await phone()).ok, (await phone()).ok]).toEqual([true, true]);
    expect(codes([await limits.take(session('192.0.2.1')), await limits.take(session('192.0.2.2'))])).toEqual([
      'ok',
      'ok',
    ]);
    expect([(await phone()).ok, (await limits.take(session('192.0.2.3'))).ok]).toEqual([false, false]);
  });

  it('takes nothing for a token: of a workspace with ten unused ones every call is still there', async () => {
    await setWorkspaceLimits(database, { slug, limits: { concurrentCalls: 4, webSessions: 4 } });
    const answers = await Promise.all(Array.from({ length: 10 }, () => limits.ask(session('198.51.100.9'))));
    expect(codes(answers)).toEqual(new Array(10).fill('ok'));
    expect(await database.query('SELECT 1 FROM limit_leases WHERE name LIKE $1', [`%${workspaceId}%`])).toEqual([]);
    expect((await limits.take(session('198.51.100.9'))).ok).toBe(true);
  });

  it('tells who asks for a token that there is no place', async () => {
    await setWorkspaceLimits(database, { slug, limits: { concurrentCalls: 2 } });
    expect((await limits.take(session('192.0.2.1'))).ok).toBe(true);
    expect(await limits.ask(session('192.0.2.2'))).toMatchObject({
      ok: false,
      code: 'concurrency_limit',
      headers: { 'ratelimit-policy': '"concurrent";q=1' },
    });
  });

  it('frees the address of an owner that died after its time', async () => {
    const sessions = Array.from({ length: 5 }, () => session('198.51.100.3'));
    for (const one of sessions) expect((await limits.take(one)).ok).toBe(true);
    expect((await limits.take(session('198.51.100.3'))).ok).toBe(false);
    await database.query(`UPDATE limit_leases SET until = clock_timestamp() - interval '1 second' WHERE holder <> $1`, [
      sessions[0]!.callUuid,
    ]);
    await limits.renew(sessions[0]!);
    const again = await Promise.all(Array.from({ length: 5 }, () => limits.take(session('198.51.100.3'))));
    expect(again.filter((answer) => answer.ok)).toHaveLength(4);
  });
});
