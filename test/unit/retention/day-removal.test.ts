/** The hourly purge removes the rows of calls that are due, and drops a day when none is left in it. */
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BY_OPERATOR } from '../../../src/audit/audit-entry.ts';
import { CALL_PARTS } from '../../../src/calls/call-parts.ts';
import { deleteCallParts } from '../../../src/retention/call-log-delete.ts';
import { dropDays } from '../../../src/retention/day-removal.ts';
import { placeHold, releaseHold } from '../../../src/retention/legal-holds.ts';
import { listReceipts, type PurgeReceipt } from '../../../src/retention/purge-receipts.ts';
import { createRetentionPurge, type RetentionPurge } from '../../../src/retention/retention-purge.ts';
import { setRetention } from '../../../src/retention/retention-rules.ts';
import type { Database, Queryable } from '../../../src/store/database.ts';
import {
  DAY_MS,
  idAt,
  isThere,
  makeDay,
  midnightBefore,
  partitionOf,
  placesOf,
  talk,
} from '../../support/call-days.ts';
import { eventually } from '../../support/eventually.ts';
import { ownSessions } from '../../support/own-sessions.ts';
import { unhurried } from '../../support/unhurried-days.ts';
import { type ApiFixture, createApiFixture, type Tenant } from '../api/api-fixture.ts';

let api: ApiFixture;
/** For whoever drops days. */
let database: Database;
let purge: RetentionPurge;
/** Midnight of a day of calls that ended 400 days ago and more; each test has another. */
let day: number;
let daysAgo = 400;
beforeAll(async () => {
  api = await createApiFixture();
  database = unhurried(api.database);
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.database.query('UPDATE calls SET purged_kinds = $1', [CALL_PARTS]);
  await api.database.query('DELETE FROM retention_rules');
  await api.database.query('DELETE FROM call_turns');
  await api.database.query('DELETE FROM call_events');
  // What the test before has left.
  await purgeOf(database).run();
  daysAgo += 10;
  day = midnightBefore(api.clock.epochMs() - daysAgo * DAY_MS);
  await makeDay(api.database, day);
  purge = purgeOf(database);
});

const silent = pino({ level: 'silent' });
const purgeOf = (by: Database): RetentionPurge =>
  createRetentionPurge({ database: by, clock: api.clock, log: silent, eraser: api.recordings.eraser });
const workspace = () => ({ workspaceId: api.acme.workspaceId, agentId: null });
const turns = (): string => partitionOf('call_turns', day);
const events = (): string => partitionOf('call_events', day);

/** A call of that day with a turn and two events. */
async function ended(number: number, tenant: Tenant = api.acme, change: Record<string, unknown> = {}): Promise<string> {
  const callUuid = idAt(day + number * 1_000, daysAgo);
  const at = new Date(day + number * 1_000);
  await api.insertCall(tenant, {
    call_uuid: callUuid,
    status: 'completed',
    ended_reason: 'agent_hangup',
    created_at: at,
    answered_at: at,
    ended_at: at,
    transcript_status: 'ready',
    ...change,
  });
  await talk(api.database, callUuid);
  return callUuid;
}

async function receiptOf(callUuid: string, kind: (typeof CALL_PARTS)[number]): Promise<PurgeReceipt[]> {
  const found = await listReceipts(api.database, {
    workspaceId: api.acme.workspaceId,
    callUuid: [callUuid],
    limit: 99,
  });
  return found.filter(({ kinds }) => kinds.includes(kind));
}

const removePart = (callUuid: string, part: (typeof CALL_PARTS)[number]) =>
  deleteCallParts(
    { database: api.database, clock: api.clock, eraser: api.recordings.eraser },
    { workspaceId: api.acme.workspaceId, callUuid, parts: [part], by: BY_OPERATOR },
  );

const dropNow = () => dropDays({ database, log: silent }, api.clock.epochMs());

const session = ownSessions(() => api.connectionString);

/** Notes the days that somebody tries to drop. */
function watching(tried: unknown[], by = database): Database {
  const note = (db: Queryable): Queryable => ({
    query(sql, parameters = []) {
      if (sql.includes('drop_day')) tried.push(parameters[0]);
      return db.query(sql, parameters);
    },
  });
  const transaction: Database['transaction'] = (work) => by.transaction((tx) => work(note(tx)));
  return { ...by, transaction };
}

const theDaysAre = async (): Promise<boolean[]> => [
  await isThere(api.database, turns()),
  await isThere(api.database, events()),
];

describe('a day of which nothing is kept', () => {
  it('is dropped, and each call has the receipts that it would have had; other days stay', async () => {
    await makeDay(api.database, api.clock.epochMs() - 300 * DAY_MS);
    const young = partitionOf('call_turns', api.clock.epochMs() - 300 * DAY_MS);
    const calls = [await ended(0), await ended(1), await ended(86_399)];
    expect((await purge.run()).removed).toMatchObject({ transcript: 3, events: 3, metadata: 3 });
    expect(await theDaysAre()).toEqual([false, false]);
    expect(await isThere(api.database, young)).toBe(true);
    for (const callUuid of calls) {
      expect(await placesOf(api.database, callUuid)).toEqual({});
      const [transcript] = await receiptOf(callUuid, 'transcript');
      expect(transcript!.removed).toMatchObject({ turns: 1, events: 1 });
      const [told] = await receiptOf(callUuid, 'events');
      expect(told!.removed).toMatchObject({ events: 1 });
    }
    const [call] = await api.database.query('SELECT transcript_status AS status FROM calls WHERE call_uuid = $1', [
      calls[0],
    ]);
    expect(call).toEqual({ status: 'deleted' });
  });

  it('is dropped by kind: turns that are due go, events that are not stay', async () => {
    await setRetention(api.database, workspace(), { events: 3650 }, BY_OPERATOR);
    const call = await ended(0);
    await purge.run();
    expect(await theDaysAre()).toEqual([false, true]);
    // Without what was said in it.
    expect(await placesOf(api.database, call)).toEqual({ [events()]: 1 });
  });

  it('had no call at all: it is dropped too', async () => {
    await purge.run();
    expect(await theDaysAre()).toEqual([false, false]);
  });

  it('is dropped once, with one receipt a call and kind, whoever of several nodes does it', async () => {
    const calls = await Promise.all(Array.from({ length: 12 }, (_none, number) => ended(number)));
    await Promise.all([purge, ...Array.from({ length: 3 }, () => purgeOf(database))].map((one) => one.run()));
    // Whoever was last to look while another still purged has left it.
    await purge.run();
    expect(await theDaysAre()).toEqual([false, false]);
    for (const callUuid of calls) {
      for (const kind of CALL_PARTS) expect(await receiptOf(callUuid, kind)).toHaveLength(1);
      const [told] = await receiptOf(callUuid, 'events');
      expect(told!.removed.events).toBe(1);
    }
  });
});

describe('a day of which something is kept', () => {
  it('is looked at by one node at a time', async () => {
    const other = await session();
    await other.query(`BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('parley.days.look', 0))`);
    expect(await dropNow()).toEqual([]);
    await other.query('COMMIT');
    expect(await dropNow()).toEqual(expect.arrayContaining([turns(), events()]));
  });

  /** Each transaction but that of the lock on the look fails so. */
  const failing = (code: string) => {
    let tries = 0;
    const transaction: Database['transaction'] = async (work) => {
      tries++;
      if (tries > 1) throw Object.assign(new Error('gone'), { code });
      return database.transaction(work);
    };
    return { lost: { ...database, transaction }, tries: () => tries };
  };

  it('is left when the database goes away, and so are the others: that is told', async () => {
    const { lost, tries } = failing('08006');
    const gone = dropDays({ database: lost, log: silent }, api.clock.epochMs());
    await expect(gone).rejects.toMatchObject({ code: '08006' });
    expect(tries()).toBe(2);
  });

  it('whose file is damaged keeps no other from being looked at', async () => {
    const { lost, tries } = failing('58P01');
    expect(await dropDays({ database: lost, log: silent }, api.clock.epochMs())).toEqual([]);
    expect(tries()).toBeGreaterThan(2);
  });

  it('stays for one held call, whose rows stay; those of the others are removed; released, it is dropped', async () => {
    const [held, free] = [await ended(0), await ended(1)];
    const at = new Date(api.clock.epochMs());
    const { workspaceId } = api.acme;
    const hold = await placeHold(api.database, { workspaceId, callUuid: held, reason: 'case', by: BY_OPERATOR, at });
    for (let hour = 0; hour < 2; hour++) {
      await purge.run();
      expect(await theDaysAre()).toEqual([true, true]);
      expect(await placesOf(api.database, held)).toEqual({ [turns()]: 1, [events()]: 2 });
      expect(await placesOf(api.database, free)).toEqual({});
    }
    await releaseHold(api.database, { workspaceId, id: hold.id, by: BY_OPERATOR, at });
    await purge.run();
    expect(await theDaysAre()).toEqual([false, false]);
    expect(await receiptOf(held, 'transcript')).toHaveLength(1);
    expect(await receiptOf(free, 'transcript')).toHaveLength(1);
  });

  it('stays for a hold on a whole workspace, for longer days of an agent or of a workspace, and for a call that lives', async () => {
    const at = new Date(api.clock.epochMs());
    const of = { workspaceId: api.other.workspaceId, reason: 'case', by: BY_OPERATOR, at };
    await ended(0, api.other);
    const hold = await placeHold(api.database, { ...of, callUuid: null });
    await purge.run();
    expect(await theDaysAre()).toEqual([true, true]);
    await releaseHold(api.database, { ...of, id: hold.id });
    const [theirs, own] = [
      { workspaceId: api.other.workspaceId, agentId: null },
      { workspaceId: api.other.workspaceId, agentId: api.other.agentId },
    ];
    await setRetention(api.database, theirs, { transcript: 3650, events: 3650 }, BY_OPERATOR);
    await purge.run();
    expect(await theDaysAre()).toEqual([true, true]);
    // The agent's word wins, in both directions.
    await setRetention(api.database, own, { transcript: 1 }, BY_OPERATOR);
    await purge.run();
    expect(await theDaysAre()).toEqual([false, true]);
    await setRetention(api.database, own, { transcript: null }, BY_OPERATOR);
    await setRetention(api.database, theirs, { transcript: null, events: null }, BY_OPERATOR);
    const live = await ended(2, api.acme, { status: 'in_progress', ended_reason: null, ended_at: null });
    await purge.run();
    expect(await theDaysAre()).toEqual([false, true]);
    expect(await placesOf(api.database, live)).toMatchObject({ [events()]: 2 });
  });

  it('is not dropped under a row that somebody writes meanwhile; when that is over it is looked at anew', async () => {
    const call = await ended(0);
    await removePart(call, 'transcript');
    await removePart(call, 'events');
    const other = await session();
    await other.query('BEGIN');
    await other.query(`INSERT INTO call_events (call_uuid, kind) VALUES ($1, 'status')`, [call]);
    // In the same day, and of a call that keeps what it has.
    const kept = await ended(1, api.acme, { status: 'in_progress', ended_reason: null, ended_at: null });
    await api.database.query('DELETE FROM call_events WHERE call_uuid = $1', [kept]);
    await api.database.query('DELETE FROM call_turns WHERE call_uuid = $1', [kept]);
    await other.query(`INSERT INTO call_events (call_uuid, kind) VALUES ($1, 'status')`, [kept]);
    // No row of the events is seen by anybody else yet.
    expect(await dropNow()).toEqual([turns()]);
    await other.query('COMMIT');
    expect(await dropNow()).toEqual([]);
    expect(await placesOf(api.database, kept)).toEqual({ [events()]: 1 });
  });

  it('is looked at once more under the lock, whoever says that it is empty; and nothing is dropped that is no day', async () => {
    const call = await ended(0);
    for (const name of [turns(), events(), 'call_events_rest', 'call_events', 'calls']) {
      expect(await api.database.query('SELECT drop_day($1) AS gone', [name])).toEqual([{ gone: false }]);
    }
    expect(await placesOf(api.database, call)).toEqual({ [turns()]: 1, [events()]: 2 });
  });

  it('is not waited for where its table is in use, and no other day of that table is tried then', async () => {
    const older = day - DAY_MS;
    await makeDay(api.database, older);
    const call = await ended(0);
    const other = await session();
    await other.query('BEGIN');
    await other.query('SELECT count(*) FROM call_turns');
    const tried: unknown[] = [];
    await purgeOf(watching(tried)).run();
    expect(tried).toEqual([partitionOf('call_events', older), partitionOf('call_turns', older), events()]);
    expect(await theDaysAre()).toEqual([true, false]);
    expect(await placesOf(api.database, call)).toEqual({});
    await other.query('COMMIT');
    expect((await dropNow()).toSorted()).toEqual([partitionOf('call_turns', older), turns()].toSorted());
    expect((await receiptOf(call, 'transcript'))[0]!.removed.turns).toBe(1);
  });

  it('is tried again where looking at it took too long, as where it was in use', async () => {
    const older = day - DAY_MS;
    await makeDay(api.database, older);
    await ended(0);
    await api.database.query('ALTER FUNCTION assert_days_of(text) RENAME TO assert_days_at_once');
    // Not where a vacuum is waited for.
    await api.database.query(`
      CREATE FUNCTION assert_days_of(parent text) RETURNS void LANGUAGE sql AS
        $$ SELECT pg_sleep(CASE WHEN current_setting('lock_timeout') = '200ms' THEN 60 ELSE 0 END) $$`);
    const tried: unknown[] = [];
    await purgeOf(watching(tried, unhurried(api.database, 'statement_timeout'))).run();
    await api.database.query('DROP FUNCTION assert_days_of(text)');
    await api.database.query('ALTER FUNCTION assert_days_at_once(text) RENAME TO assert_days_of');
    expect(tried).toEqual([partitionOf('call_events', older), partitionOf('call_turns', older)]);
    expect(await dropNow()).toHaveLength(4);
  });

  it('keeps no words that somebody has erased, whatever else is kept of it', async () => {
    const [erased, kept] = [await ended(0), await ended(1)];
    const at = new Date(api.clock.epochMs());
    const { workspaceId } = api.acme;
    const hold = await placeHold(api.database, { workspaceId, callUuid: kept, reason: 'case', by: BY_OPERATOR, at });
    await removePart(erased, 'transcript');
    await purge.run();
    expect(await placesOf(api.database, erased)).toEqual({});
    expect(await theDaysAre()).toEqual([true, true]);
    expect((await receiptOf(erased, 'transcript'))[0]!.removed).toMatchObject({ turns: 1, events: 1 });
    await releaseHold(api.database, { workspaceId, id: hold.id, by: BY_OPERATOR, at });
  });

  it('is not kept by what was written of a call after its purge, unless that call is held', async () => {
    const [first, second] = [await ended(0), await ended(1)];
    for (const callUuid of [first, second]) {
      for (const kind of CALL_PARTS) await removePart(callUuid, kind);
      await talk(api.database, callUuid);
    }
    // Of no call that there is: one that was never dialled.
    await talk(api.database, idAt(day + 5_000, daysAgo));
    const at = new Date(api.clock.epochMs());
    const { workspaceId } = api.acme;
    const hold = await placeHold(api.database, { workspaceId, callUuid: second, reason: 'case', by: BY_OPERATOR, at });
    expect(await dropNow()).toEqual([]);
    expect(await placesOf(api.database, first)).toEqual({});
    expect(await placesOf(api.database, second)).toEqual({ [turns()]: 1, [events()]: 2 });
    await releaseHold(api.database, { workspaceId, id: hold.id, by: BY_OPERATOR, at });
    expect((await dropNow()).toSorted()).toEqual([events(), turns()].toSorted());
  });

  it('loses late rows also behind those of calls that keep theirs, and of each the receipt says how many', async () => {
    const live = { status: 'in_progress', ended_reason: null, ended_at: null };
    const kept = [await ended(0, api.acme, live), await ended(2, api.acme, live)];
    const late = [await ended(1), await ended(3)];
    for (const callUuid of late) {
      for (const kind of CALL_PARTS) await removePart(callUuid, kind);
      await talk(api.database, callUuid);
    }
    expect(await dropNow()).toEqual([]);
    for (const callUuid of kept) {
      expect(await placesOf(api.database, callUuid)).toEqual({ [turns()]: 1, [events()]: 2 });
    }
    for (const callUuid of late) {
      expect(await placesOf(api.database, callUuid)).toEqual({});
      // Newest first.
      const by = { cause: 'retention', actor: 'system:retention' };
      const [transcript] = await receiptOf(callUuid, 'transcript');
      expect(transcript).toMatchObject({ ...by, removed: { turns: 1, events: 0 } });
      const [told] = await receiptOf(callUuid, 'events');
      expect(told).toMatchObject({ ...by, removed: { turns: 0, events: 2 } });
    }
    // Nothing is left, so nothing more is proved.
    await dropNow();
    for (const callUuid of late) expect(await receiptOf(callUuid, 'events')).toHaveLength(2);
  });

  it('loses late rows of a call after its own days, and not after those of another workspace', async () => {
    const own = { workspaceId: api.acme.workspaceId, agentId: api.acme.agentId };
    const theirs = { workspaceId: api.other.workspaceId, agentId: null };
    await setRetention(api.database, own, { transcript: 3650, events: 3650 }, BY_OPERATOR);
    await setRetention(api.database, theirs, { transcript: 1, events: 1 }, BY_OPERATOR);
    const call = await ended(0);
    for (const kind of CALL_PARTS) await removePart(call, kind);
    await talk(api.database, call);
    await dropNow();
    expect(await placesOf(api.database, call)).toEqual({ [turns()]: 1, [events()]: 2 });
    await setRetention(api.database, own, { transcript: 365, events: 365 }, BY_OPERATOR);
    await dropNow();
    expect(await theDaysAre()).toEqual([false, false]);
    expect(await receiptOf(call, 'events')).toHaveLength(2);
  });

  it('is gone before the late rows of its calls come: they are removed from the rest', async () => {
    const [call, held] = [await ended(0), await ended(1)];
    await purge.run();
    expect(await theDaysAre()).toEqual([false, false]);
    for (const callUuid of [call, held]) await talk(api.database, callUuid);
    // Of a call that lives, with a clock that is wrong by years.
    const live = idAt(day - 900 * DAY_MS, daysAgo);
    await api.insertCall(api.acme, { call_uuid: live, status: 'in_progress' });
    await talk(api.database, live);
    const at = new Date(api.clock.epochMs());
    const { workspaceId } = api.acme;
    const hold = await placeHold(api.database, { workspaceId, callUuid: held, reason: 'case', by: BY_OPERATOR, at });
    expect(await dropNow()).toEqual([]);
    const inRest = { call_turns_rest: 1, call_events_rest: 2 };
    expect(await placesOf(api.database, call)).toEqual({});
    expect(await placesOf(api.database, held)).toEqual(inRest);
    expect(await placesOf(api.database, live)).toEqual(inRest);
    await releaseHold(api.database, { workspaceId, id: hold.id, by: BY_OPERATOR, at });
    await dropNow();
    expect(await placesOf(api.database, held)).toEqual({});
    expect(await placesOf(api.database, live)).toEqual(inRest);
  });

  it('has more calls than are looked at in an hour: the next hour goes on behind them', async () => {
    const kept = Array.from({ length: 600 }, (_none, number) => idAt(day + 1, number));
    const late = idAt(day + DAY_MS - 1);
    await api.database.query(`INSERT INTO call_events (call_uuid, kind) SELECT unnest($1::uuid[]), 'status'`, [
      [...kept, late],
    ]);
    // Calls that live, but for the last one, which nobody knows.
    await api.database.query(
      `INSERT INTO calls (call_uuid, workspace_id, agent_id, agent_version, channel, to_number, from_number, name, request_id, status, carrier)
       SELECT id, $2, $3, 1, 'web', '', '', 'Asha', 'r', 'in_progress', 'web' FROM unnest($1::uuid[]) AS id`,
      [kept, api.acme.workspaceId, api.acme.agentId],
    );
    const lookedAt = new Map<string, string>();
    const look = () => dropDays({ database, log: silent }, api.clock.epochMs(), undefined, lookedAt);
    await look();
    expect(await placesOf(api.database, late)).toEqual({ [events()]: 1 });
    await look();
    expect(await placesOf(api.database, late)).toEqual({});
    expect(await placesOf(api.database, kept[599]!)).toEqual({ [events()]: 1 });
    expect([...lookedAt.keys()]).toEqual([]);
  });

  it('is vacuumed after its purge, as it will be: that is waited for, and it is dropped then', async () => {
    const vacuum = await session();
    await vacuum.query(`BEGIN; LOCK TABLE ${events()} IN SHARE UPDATE EXCLUSIVE MODE`);
    const dropping = dropNow();
    const isWaiting = async (): Promise<boolean> => {
      const found = await api.database.query(
        `SELECT 1 FROM pg_locks WHERE NOT granted AND mode = 'ShareUpdateExclusiveLock' AND relation = $1::regclass
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
        [events()],
      );
      return found.length > 0;
    };
    await eventually('the day to be waited for', isWaiting);
    await vacuum.query('COMMIT');
    expect((await dropping).toSorted()).toEqual([events(), turns()].toSorted());
  });

  it('is not dropped while somebody uses the rest, and nobody waits for its table then', async () => {
    const other = await session();
    await other.query('BEGIN');
    await other.query('SELECT 1 FROM call_events_rest LIMIT 1');
    const client = await session();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const locks = (): Promise<{ name: string; mode: string; granted: boolean }[]> =>
      api.database.query(
        `SELECT relation::regclass::text AS name, mode, granted FROM pg_locks WHERE pid = $1 AND locktype = 'relation'`,
        [rows[0]!.pid],
      );
    const dropping = client.query('SELECT drop_day($1) AS gone', [events()]);
    const waitsFor = async () => (await locks()).find(({ granted }) => !granted)?.name;
    expect(await eventually('the drop to wait', waitsFor)).toBe('call_events_rest');
    // Of the whole it has at most a lock under which everybody reads and writes.
    const ofWhole = (await locks()).filter(({ name }) => name === 'call_events').map(({ mode }) => mode);
    expect(ofWhole).not.toContain('AccessExclusiveLock');
    await other.query('COMMIT');
    expect((await dropping).rows).toEqual([{ gone: true }]);
  });

  it('that is dropped takes no row with it that comes later: the rest has it', async () => {
    const call = await ended(0);
    await purge.run();
    expect(await theDaysAre()).toEqual([false, false]);
    await talk(api.database, call);
    expect(await placesOf(api.database, call)).toEqual({ call_turns_rest: 1, call_events_rest: 2 });
    await api.database.query('DELETE FROM call_turns_rest');
    await api.database.query('DELETE FROM call_events_rest');
  });

  it('is not taken for a purge of one workspace', async () => {
    const call = await ended(0);
    await purge.run({ workspaceId: api.acme.workspaceId });
    expect(await theDaysAre()).toEqual([true, true]);
    expect(await placesOf(api.database, call)).toEqual({});
  });
});
