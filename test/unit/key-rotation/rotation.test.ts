/** A rotation on a real database, with holders of keys on a virtual clock, stopped after each of its statements. */
import { randomBytes, randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { fillSealed, headOf, newCanary, openEverything, rowsWith } from '../../../bench/rotation/sealed-values.ts';
import { importAgent } from '../../../src/agents/stored-agents.ts';
import { BY_OPERATOR, SERVICE_CHAIN } from '../../../src/audit/audit-entry.ts';
import { createChainSigner } from '../../../src/audit/chain-signer.ts';
import { linkAudit } from '../../../src/audit/link-chain.ts';
import { verifyChain } from '../../../src/audit/verify-chain.ts';
import { RotationRefused, type RotationReport, rotateMasterKey } from '../../../src/key-rotation/rotate-master-key.ts';
import {
  holdsKey,
  joinHolders,
  leaveHolders,
  MasterKeyRefused,
  readRegister,
  registerKey,
} from '../../../src/sealing/key-register.ts';
import { type KeyRing, openKeyRing } from '../../../src/sealing/key-ring.ts';
import { masterKeyOf } from '../../../src/sealing/master-keys.ts';
import { sealedPlace } from '../../../src/sealing/sealed-places.ts';
import { createSealer } from '../../../src/sealing/sealer.ts';
import type { Database, Queryable } from '../../../src/store/database.ts';
import { createPermitSigner } from '../../../src/suppressions/dial-permit.ts';
import { addLine } from '../../../src/workspaces/lines.ts';
import { createWorkspace } from '../../../src/workspaces/workspaces.ts';
import { AskedDatabase } from '../../support/asked-database.ts';
import { eventually } from '../../support/eventually.ts';
import { sampleAgent } from '../../support/sample-agent.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const newKey = (): string => randomBytes(32).toString('hex');
const log = pino({ level: 'silent' });
const VALUES = 120;

let test: TestDatabase;
let database: Database;
let workspaceId: string;
let former: string;
let next: string;
let clock: VirtualClock;
let rings: KeyRing[];
const canary = newCanary();

beforeAll(async () => {
  test = await createTestDatabase();
  database = openPatientDatabase(test.connectionString, 4);
  former = newKey();
  await createWorkspace(database, { slug: 'acme', name: 'Acme' });
  const agent = await importAgent(database, { slug: 'acme', definition: sampleAgent() });
  const credentials = { authId: 'MA', authToken: canary };
  const line = await addLine(database, createSealer(former), {
    slug: 'acme',
    number: '+14155550100',
    carrier: 'plivo',
    credentials,
  });
  const [row] = await database.query<{ id: string }>(`SELECT id FROM workspaces WHERE slug = 'acme'`);
  workspaceId = row!.id;
  const ids = { workspaceId, agentId: agent.id, lineId: line.id };
  await fillSealed(database, { values: VALUES, masterKeyHex: former, canary, ...ids });
  await linkAudit(database, createChainSigner(former));
});
afterAll(async () => {
  await database.close();
  await test.close();
});
beforeEach(() => {
  next = newKey();
  clock = new VirtualClock();
  rings = [];
});
afterEach(async () => {
  await Promise.all(rings.map((ring) => ring.close()));
  await database.query('DELETE FROM master_key_holders');
  const sealing = (await readRegister(database)).find(({ state }) => state === 'sealing');
  if (sealing !== undefined && holdsKey(sealing, [masterKeyOf(next)]) !== undefined) former = next;
});

/** As the holders have it. */
const asking = new AskedDatabase();

async function holder(given: readonly string[], reread: (() => readonly string[]) | null = null): Promise<KeyRing> {
  const ring = await openKeyRing({ database: asking.over(database), clock, log, given, reread });
  rings.push(ring);
  return ring;
}

/** Time goes on while a rotation waits, so that holders look at the register; not before what they see there. */
async function wait(): Promise<void> {
  clock.advanceMs(1_000);
  await asking.answered();
}

function rotate(on: Database, change: Partial<Parameters<typeof rotateMasterKey>[0]> = {}): Promise<RotationReport> {
  // A transaction ends when the machine comes to it, an autovacuum's too: no limit is reached meanwhile.
  let isHeldUp = false;
  const told = change.told ?? (() => {});
  const goOn = change.wait ?? wait;
  return rotateMasterKey({
    database: on,
    keys: [masterKeyOf(next), masterKeyOf(former)],
    by: BY_OPERATOR,
    batchRows: 7,
    pauseMs: 0,
    nowMs: () => clock.nowMs(),
    ...change,
    wait: (ms) => (isHeldUp ? asking.answered() : goOn(ms)),
    told(progress) {
      isHeldUp = progress.step === 'waiting' && progress.for === 'transactions';
      told(progress);
    },
  });
}

/** Dies with its n-th statement: before the database hears of it, or after it has done it. */
function dyingAt(statement: number, isDone: boolean): Database & { died(): boolean } {
  let statements = 0;
  const guarded = (inner: Queryable): Queryable => ({
    async query<Row extends object>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
      const isLast = ++statements === statement;
      if (statements > statement || (isLast && !isDone)) throw new Error('killed');
      const rows = await inner.query<Row>(sql, parameters);
      if (isLast) throw new Error('killed');
      return rows;
    },
  });
  return {
    ...guarded(database),
    transaction: (work) => database.transaction((tx) => work(guarded(tx))),
    close: async () => {},
    died: () => statements >= statement,
  };
}

async function expectAllUnder(key: string): Promise<void> {
  const everything = await openEverything(database, key, canary);
  expect(everything.refused).toEqual([]);
  expect(everything.canaries).toBeGreaterThanOrEqual(VALUES * 0.9);
  expect(everything.opened).toBe(everything.canaries);
}

async function expectUseless(key: string): Promise<void> {
  expect((await openEverything(database, key, canary)).opened).toBe(0);
  expect(await rowsWith(database, [headOf(key)])).toEqual([]);
  const permits = await database.query<{ body: string; signature: Buffer }>('SELECT body, signature FROM dial_permits');
  expect(permits.filter(({ body, signature }) => createPermitSigner(key).verify(body, signature))).toEqual([]);
  await expect(joinHolders(database, [masterKeyOf(key)], { holder: randomUUID(), name: 'late' })).rejects.toThrow(
    MasterKeyRefused,
  );
}

describe('a rotation', () => {
  it('seals everything anew, former forms too, and afterwards the former key opens, signs and starts nothing', async () => {
    const node = await holder([former], () => [next, former]);
    const report = await rotate(database);
    expect(report.unreadable).toEqual({});
    expect(report.resealed).toBeGreaterThanOrEqual(VALUES * 0.9);
    await expectAllUnder(next);
    await expectUseless(former);
    expect(await rowsWith(database, [Buffer.from(canary)])).toEqual([]);
    const permits = await database.query<{ body: string; signature: Buffer }>(
      'SELECT body, signature FROM dial_permits',
    );
    expect(permits.length).toBeGreaterThan(0);
    expect(permits.every(({ body, signature }) => createPermitSigner(next).verify(body, signature))).toBe(true);
    await linkAudit(database, createChainSigner(next));
    expect((await verifyChain(database, SERVICE_CHAIN, createChainSigner(next))).faults).toEqual([]);
    expect((await verifyChain(database, SERVICE_CHAIN, createChainSigner(next))).seals).toBeGreaterThan(0);
    // The node that ran through it seals with the new key.
    const place = sealedPlace.toolSecret(workspaceId, 'LATER');
    expect(createSealer(next).open(createSealer(node).seal('x', place), place)).toBe('x');
  });

  it('killed at any statement, and run again, ends the same: at every stop each value opens under one of the two keys', async () => {
    await holder([former], () => [next, former]);
    let kills = 0;
    // Ever further: each kill is one statement later than the last, as a whole run of its own with what is left.
    for (let statement = 1; ; statement += 1 + Math.floor(statement / 6)) {
      const dying = dyingAt(statement, statement % 2 === 0);
      const report = await rotate(dying).catch((error: Error) => {
        expect(error.message).toBe('killed');
        return null;
      });
      if (report !== null) break;
      kills++;
      const both = await openEverything(database, former, canary);
      const anew = await openEverything(database, next, canary);
      expect(both.opened + anew.opened).toBeGreaterThanOrEqual(VALUES * 0.9);
    }
    expect(kills).toBeGreaterThan(10);
    await expectAllUnder(next);
    await expectUseless(former);
  });

  it('waits for a node that lacks the new key, tells which, and goes on when it has it', async () => {
    let file: readonly string[] = [former];
    const late = await holder([former], () => file);
    const place = sealedPlace.toolSecret(workspaceId, 'LATE');
    await expect(rotate(database)).rejects.toThrow(RotationRefused);
    await expect(rotate(database)).rejects.toThrow(/control [0-9a-f-]{36}.*do not have the new key/);
    // Nothing was sealed under it: who has only the former one still opens everything, and may even start.
    await expectAllUnder(former);
    await holder([former]).then((ring) => ring.close());
    file = [next, former];
    await rotate(database);
    expect(createSealer(next).open(createSealer(late).seal('x', place), place)).toBe('x');
    // What was given out before the turn is good as long as it lives.
    expect(late.all()).toHaveLength(2);
    const hour = async (): Promise<void> => {
      clock.advanceMs(3_600_000);
      await wait();
    };
    await eventually('the former key to be forgotten', () => late.all().length === 1, { between: hour });
  });

  it('takes what a node seals under the former key until its turn, and waits for its open transaction', async () => {
    const node = await holder([former], () => [next, former]);
    const place = sealedPlace.toolSecret(workspaceId, 'OPEN');
    let commit = (): void => {};
    const committed = new Promise<void>((resolve) => {
      commit = resolve;
    });
    let begun = (): void => {};
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const writing = database.transaction(async (tx) => {
      const sealed = createSealer(node).seal(`late ${canary}`, place);
      await tx.query('INSERT INTO workspace_secrets (workspace_id, name, value_sealed) VALUES ($1, $2, $3)', [
        workspaceId,
        'OPEN',
        sealed,
      ]);
      begun();
      await committed;
    });
    await isBegun;
    let waited = 0;
    await rotate(database, {
      told(progress) {
        if (progress.step === 'waiting' && progress.for === 'transactions' && ++waited === 3) commit();
      },
    });
    commit();
    await writing;
    expect(waited).toBeGreaterThanOrEqual(3);
    await expectAllUnder(next);
    await expectUseless(former);
    await database.query(`DELETE FROM workspace_secrets WHERE name = 'OPEN'`);
  });

  it('while it is under way nobody starts with one of the two keys alone', async () => {
    const started: Promise<string>[] = [];
    const start = (...keys: string[]): void => {
      const joined = joinHolders(database, keys.map(masterKeyOf), { holder: randomUUID(), name: 'control' });
      started.push(joined.then(() => 'started').catch((error: Error) => error.message));
    };
    await rotate(database, {
      async wait() {
        await Promise.all(started);
        await wait();
      },
      told(progress) {
        if (progress.step !== 'turned') return;
        start(former);
        start(next);
      },
    });
    const [withFormer, withNext] = await Promise.all(started);
    expect(withFormer).toContain('sealed under another master key');
    expect(withNext).toContain('has only one of the two keys');
  });

  it('waits for no row that somebody holds: it goes past it, and takes it when it is free', async () => {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let isHeld: Promise<void> | undefined;
    let holding: Promise<void> | undefined;
    const hold = (): void => {
      isHeld = new Promise((resolve) => {
        holding = database.transaction(async (tx) => {
          await tx.query('SELECT 1 AS one FROM clips FOR UPDATE');
          await tx.query('SELECT 1 AS one FROM dial_permits FOR UPDATE');
          resolve();
          await released;
        });
      });
    };
    await rotate(database, {
      pauseMs: 1,
      async wait() {
        await isHeld;
        await wait();
      },
      told(progress) {
        if (progress.step === 'resealed' && holding === undefined) hold();
        // Reached only by a pass that did not wait.
        if (progress.step === 'waiting' && progress.for === 'transactions') release();
      },
    });
    release();
    await holding;
    await expectAllUnder(next);
    await expectUseless(former);
  });

  /** A node with the former key that no rotation waits for, because the database has not heard of it for too long. */
  async function nodeOutOfReach(): Promise<{ late: KeyRing; comesBack(): void }> {
    let isAway = false;
    const away: Database = {
      ...database,
      query: (sql, parameters) => (isAway ? Promise.reject(new Error('away')) : database.query(sql, parameters)),
    };
    const late = await openKeyRing({ database: away, clock, log, given: [former], reread: () => [next, former] });
    rings.push(late);
    isAway = true;
    await database.query('DELETE FROM master_key_holders');
    return {
      late,
      comesBack() {
        isAway = false;
      },
    };
  }

  it('a node that was cut off from the database until it was over seals anew what it had sealed too late', async () => {
    const { late, comesBack } = await nodeOutOfReach();
    await rotate(database);
    const place = sealedPlace.toolSecret(workspaceId, 'CUT_OFF');
    const sealed = createSealer(late).seal(canary, place);
    await database.query('INSERT INTO workspace_secrets (workspace_id, name, value_sealed) VALUES ($1, $2, $3)', [
      workspaceId,
      'CUT_OFF',
      sealed,
    ]);
    comesBack();
    await eventually(
      'the value to be under the new key',
      async () => (await openEverything(database, next, canary)).refused.length === 0,
      { between: wait },
    );
    await expectUseless(former);
    await database.query(`DELETE FROM workspace_secrets WHERE name = 'CUT_OFF'`);
  });

  it('so does one that comes back in the last moment, while the former key is still leaving', async () => {
    const { late, comesBack } = await nodeOutOfReach();
    const place = sealedPlace.toolSecret(workspaceId, 'AT_LAST');
    const atTheEnd = async (): Promise<void> => {
      await database.query('INSERT INTO workspace_secrets (workspace_id, name, value_sealed) VALUES ($1, $2, $3)', [
        workspaceId,
        'AT_LAST',
        createSealer(late).seal(canary, place),
      ]);
      comesBack();
      const hasTurned = () => late.current().id.equals(masterKeyOf(next).id);
      await eventually('the node to notice the turn', hasTurned, { between: wait });
    };
    await rotate({
      ...database,
      transaction: (work) =>
        database.transaction((tx) =>
          work({
            async query(sql, parameters) {
              if (sql.includes(`WHERE state = 'leaving'`)) await atTheEnd();
              return tx.query(sql, parameters);
            },
          }),
        ),
    });
    await eventually(
      'the value to be under the new key',
      async () => (await openEverything(database, next, canary)).refused.length === 0,
      { between: wait },
    );
    await expectUseless(former);
    await database.query(`DELETE FROM workspace_secrets WHERE name = 'AT_LAST'`);
  });

  it('gives way to another key that was announced meanwhile', async () => {
    const other = masterKeyOf(newKey());
    let transactions = 0;
    const crossed: Database = {
      ...database,
      async transaction(work) {
        if (++transactions === 2) {
          await database.query(`DELETE FROM master_keys WHERE state = 'coming'`);
          await registerKey(database, other, 'coming');
        }
        return database.transaction(work);
      },
    };
    await expect(rotate(crossed)).rejects.toThrow(/Another rotation has announced another key/);
    const states = (await readRegister(database)).map(({ keyId, state }) => [state, keyId.equals(other.id)]);
    expect(states).toEqual([
      ['sealing', false],
      ['coming', true],
    ]);
    await database.query(`DELETE FROM master_keys WHERE state = 'coming'`);
  });

  it('leaves what neither key opens as it is, and says where', async () => {
    const place = sealedPlace.toolSecret(workspaceId, 'STRANGE');
    const sealed = createSealer(newKey()).seal('x', place);
    await database.query('INSERT INTO workspace_secrets (workspace_id, name, value_sealed) VALUES ($1, $2, $3)', [
      workspaceId,
      'STRANGE',
      sealed,
    ]);
    const report = await rotate(database);
    expect(report.unreadable).toEqual({ 'workspace_secrets.value_sealed': 1 });
    const [entry] = await database.query<{ after: string }>(
      `SELECT after::text AS after FROM audit_log WHERE action = 'master_key.rotated' ORDER BY id DESC LIMIT 1`,
    );
    expect(JSON.parse(entry!.after)).toEqual(report);
    const [row] = await database.query<{ value: Buffer }>(
      `SELECT value_sealed AS value FROM workspace_secrets WHERE name = 'STRANGE'`,
    );
    expect(row!.value.equals(sealed)).toBe(true);
    await database.query(`DELETE FROM workspace_secrets WHERE name = 'STRANGE'`);
    await expectAllUnder(next);
  });

  it('does not seal anew what was moved: a value in another row stays one that opens nowhere', async () => {
    const sealed = createSealer(former).seal('x', sealedPlace.toolSecret(workspaceId, 'MINE'));
    await database.query('INSERT INTO workspace_secrets (workspace_id, name, value_sealed) VALUES ($1, $2, $3)', [
      workspaceId,
      'MOVED',
      sealed,
    ]);
    expect((await rotate(database)).unreadable).toEqual({ 'workspace_secrets.value_sealed': 1 });
    await database.query(`DELETE FROM workspace_secrets WHERE name = 'MOVED'`);
  });

  it('does not sign what the former key had not signed', async () => {
    await database.query(
      `UPDATE dial_permits SET body = '{"forged":true}' WHERE id = (SELECT min(id::text)::uuid FROM dial_permits)`,
    );
    await rotate(database);
    const permits = await database.query<{ body: string; signature: Buffer }>(
      'SELECT body, signature FROM dial_permits',
    );
    const bad = permits.filter(({ body, signature }) => !createPermitSigner(next).verify(body, signature));
    expect(bad.map(({ body }) => body)).toEqual(['{"forged":true}']);
  });

  it('is refused with keys that are not the database’s', async () => {
    const keys = [masterKeyOf(next), masterKeyOf(newKey())] as const;
    await expect(rotate(database, { keys })).rejects.toThrow(/not the one that the database is sealed under/);
    expect((await readRegister(database)).map(({ state }) => state)).toEqual(['sealing']);
  });
});

describe('two nodes that made two keys for one database', () => {
  it('the second is refused before it seals anything; the register tells nothing of the key', async () => {
    const own = await createTestDatabase();
    const empty = openPatientDatabase(own.connectionString, 4);
    try {
      const [first, second] = [newKey(), newKey()];
      const join = (key: string) => joinHolders(empty, [masterKeyOf(key)], { holder: randomUUID(), name: 'control' });
      const both = await Promise.allSettled([join(first), join(second)]);
      expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      const refused = both.find((one) => one.status === 'rejected')!;
      expect(String(refused.reason)).toMatch(/sealed under another master key.*give this one the key of the others/);
      const winner = both[0]!.status === 'fulfilled' ? first : second;
      await join(winner);
      const texts = [Buffer.from(winner, 'hex'), Buffer.from(winner)];
      expect(await rowsWith(empty, texts)).toEqual([]);
      // The same key is told by other values in every database.
      const [row] = await readRegister(empty);
      const [elsewhere] = await readRegister(database);
      expect(row!.salt.equals(elsewhere!.salt)).toBe(false);
    } finally {
      await empty.close();
      await own.close();
    }
  });

  it('a database of a former version, which has values and no register, takes the key that opens them and no other', async () => {
    await database.query('DELETE FROM master_keys');
    const join = (...keys: string[]) =>
      joinHolders(database, keys.map(masterKeyOf), { holder: randomUUID(), name: 'control' });
    await expect(join(newKey())).rejects.toThrow(/not the key that the values in this database were sealed under/);
    expect(await readRegister(database)).toEqual([]);
    const rows = await join(newKey(), former);
    expect(rows.map(({ keyId }) => keyId.equals(masterKeyOf(former).id))).toEqual([true]);
  });

  it('a node that leaves is not waited for', async () => {
    const holderId = randomUUID();
    await joinHolders(database, [masterKeyOf(former)], { holder: holderId, name: 'command' });
    await leaveHolders(database, holderId);
    await rotate(database);
  });
});
