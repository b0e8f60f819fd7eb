import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../media/contract/clock.ts';
import { createEmbedLimits, type EmbedAnswer, type EmbedLimits } from '../../../src/limits/embed-limits.ts';
import { createPostgresStore } from '../../../src/limits/postgres-store.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { createWorkspace, setWorkspaceLimits } from '../../../src/workspaces/workspaces.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';

let test: TestDatabase;
let database: Database;
let limits: EmbedLimits;
let workspaceId: string;
let count = 0;
let slug: string;

beforeAll(async () => {
  test = await createTestDatabase();
  database = openDatabase({ connectionString: test.connectionString, maxConnections: 12, onIdleError: () => {} });
  const postgres = createPostgresStore(database);
  limits = createEmbedLimits({ store: postgres, postgres, database, clock: systemClock });
});
afterAll(async () => {
  await database.close();
  await test.close();
});
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

describe('the limits of embed sessions', () => {
  it('gives an address 5 at once, and another when one ends', async () => {
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
    for (let times = 0; times < 10; times++) {
      const one = session('198.51.100.2', `pk_${count}_${times}`);
      expect(await limits.take(one)).toEqual({ ok: true });
      await limits.release(one);
    }
    expect(await limits.take(session('198.51.100.2'))).toEqual({
      ok: false,
      code: 'embed_rate_limit',
      retryAfterSeconds: 6,
      headers: { 'ratelimit-policy': '"embed";q=10;w=60', ratelimit: '"embed";r=0;t=6' },
    });
  });

  it('gives a public key 60 a minute, from whatever addresses', async () => {
    await setWorkspaceLimits(database, { slug, limits: { concurrentCalls: 1_000, webSessions: 1_000 } });
    const answers: EmbedAnswer[] = [];
    for (let times = 0; times < 62; times++) answers.push(await limits.take(session(`203.0.113.${times}`)));
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

  it('frees the address of an owner that died after its time', async () => {
    const sessions = Array.from({ length: 5 }, () => session('198.51.100.3'));
    for (const one of sessions) expect((await limits.take(one)).ok).toBe(true);
    expect((await limits.take(session('198.51.100.3'))).ok).toBe(false);
    await database.query(`UPDATE limit_leases SET until = until - interval '90 seconds' WHERE holder <> $1`, [
      sessions[0]!.callUuid,
    ]);
    await limits.renew(sessions[0]!);
    const again = await Promise.all(Array.from({ length: 5 }, () => limits.take(session('198.51.100.3'))));
    expect(again.filter((answer) => answer.ok)).toHaveLength(4);
  });
});
