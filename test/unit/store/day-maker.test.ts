/** Partitions by day: where rows go, that any node makes the days to come, and that only days asked for are read. */
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { readEvents, readNews } from '../../../src/api/calls/stored-events.ts';
import { recoveriesOf } from '../../../src/call-log/call-recovery.ts';
import { readTurns } from '../../../src/calls/call-turns.ts';
import type { Database, Queryable } from '../../../src/store/database.ts';
import { changeDays } from '../../../src/store/day-changes.ts';
import { makeDays, startDayMaker } from '../../../src/store/day-maker.ts';
import {
  DAY_MS,
  dayOf,
  fillRest,
  idAt,
  midnightBefore,
  NOTHING_MADE,
  namesOf,
  partitionOf,
  placesOf,
  saidByRests,
  talk,
} from '../../support/call-days.ts';
import { eventually } from '../../support/eventually.ts';
import { ownSessions } from '../../support/own-sessions.ts';
import { unhurried } from '../../support/unhurried-days.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { type ApiFixture, createApiFixture } from '../api/api-fixture.ts';

let api: ApiFixture;
/** For whoever makes days. */
let database: Database;
let today: number;
beforeAll(async () => {
  api = await createApiFixture();
  database = unhurried(api.database);
  today = midnightBefore(Date.now());
});
afterAll(() => api.close());

const session = ownSessions(() => api.connectionString);

async function partitions(table: string): Promise<string[]> {
  const rows = await api.database.query<{ name: string }>(
    'SELECT name FROM day_partitions WHERE parent = $1 ORDER BY name',
    [table],
  );
  return rows.map(({ name }) => name);
}

/** Notes what the server says of each attached day. */
function noticed(said: string[]): Database {
  return {
    ...api.database,
    async transaction(work) {
      const client = new pg.Client({ connectionString: api.connectionString });
      client.on('notice', ({ message }) => void said.push(String(message)));
      await client.connect();
      try {
        await client.query('SET client_min_messages = debug1; BEGIN');
        const result = await work({
          query: async <Row extends object>(sql: string, parameters: readonly unknown[] = []) =>
            (await client.query<Row>(sql, [...parameters])).rows,
        });
        await client.query('COMMIT');
        return result;
      } finally {
        await client.end();
      }
    },
  };
}

describe('a row', () => {
  it.each([
    ['the first millisecond of a day', 0, 0],
    ['the last of the day before', -1, -1],
    ['the last of a day', DAY_MS - 1, 0],
    ['the first of the next', DAY_MS, 1],
  ])('of a call of %s lies in the partition of that day', async (_what, offsetMs, days) => {
    const callUuid = idAt(today + offsetMs);
    await talk(api.database, callUuid);
    const at = today + days * DAY_MS;
    expect(await placesOf(api.database, callUuid)).toEqual({
      [partitionOf('call_events', at)]: 2,
      [partitionOf('call_turns', at)]: 1,
    });
  });

  it('of a day that nobody has made lies in the rest, and a turn that is told again stays one', async () => {
    const callUuid = idAt(today + 30 * DAY_MS);
    await talk(api.database, callUuid);
    await api.database.query(
      `INSERT INTO call_turns VALUES ($1, 't1', 1, '{"heardText":"hello you"}')
       ON CONFLICT (call_uuid, turn_id) DO UPDATE SET turn = EXCLUDED.turn`,
      [callUuid],
    );
    expect(await placesOf(api.database, callUuid)).toEqual({ call_events_rest: 2, call_turns_rest: 1 });
    expect(await readTurns(api.database, callUuid)).toEqual([{ heardText: 'hello you' }]);
  });
});

describe('the days to come', () => {
  it('are there after a migration, a week of them', async () => {
    expect(await makeDays(database, today)).toEqual(NOTHING_MADE);
    expect(await partitions('call_turns')).toHaveLength(10);
  });

  it('are made by any of the nodes, each once, and by the clock, an hour and a day later', async () => {
    const at = today + 60 * DAY_MS;
    const both = await Promise.all([makeDays(database, at), makeDays(database, at)]);
    const made = [...both.flatMap((one) => one.made), ...(await makeDays(database, at)).made];
    expect(made.toSorted()).toEqual(namesOf(at, 8).toSorted());
    expect(await makeDays(database, at)).toEqual(NOTHING_MADE);
    const clock = new VirtualClock(at + DAY_MS - 60_000);
    const lines: string[] = [];
    const maker = startDayMaker({
      database,
      clock,
      log: pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }),
    });
    await maker.idle();
    expect(lines).toEqual([]);
    clock.advanceMs(3_600_000);
    await maker.idle();
    expect(JSON.parse(lines.join(''))).toMatchObject({ made: namesOf(at + 8 * DAY_MS, 1) });
    await maker.close();
  });

  it('get the few rows that were before them; a day of which there are many stays in the rest', async () => {
    const at = today + 90 * DAY_MS;
    const [few, many] = [at + 3 * DAY_MS, at + 5 * DAY_MS];
    const [early, last] = [idAt(few + 5), idAt(few + DAY_MS - 1)];
    for (const callUuid of [early, last]) await talk(api.database, callUuid);
    const ids = Array.from({ length: 1_001 }, (_none, number) => idAt(many + 5, number));
    await api.database.query(`INSERT INTO call_events (call_uuid, kind) SELECT unnest($1::uuid[]), 'status'`, [ids]);
    const { made, late, left } = await makeDays(database, at);
    expect([made.length, late, left]).toEqual([15, [`call_events ${dayOf(many)}`], []]);
    const moved = { [partitionOf('call_events', few)]: 2, [partitionOf('call_turns', few)]: 1 };
    for (const callUuid of [early, last]) expect(await placesOf(api.database, callUuid)).toEqual(moved);
    expect(await placesOf(api.database, ids[0]!)).toEqual({ call_events_rest: 1 });
    expect(await saidByRests(api.database)).toEqual([]);
    await api.database.query('DELETE FROM call_events_rest');
  });

  it('are attached without a look at a rest that is full, which takes what it took', async () => {
    const at = today + 150 * DAY_MS;
    await fillRest(api.database, at - 30 * DAY_MS);
    const said: string[] = [];
    const { made, left } = await makeDays(unhurried(noticed(said)), at);
    expect([made.length, left]).toEqual([16, []]);
    // The days that begin within 48 hours are attached as they are.
    const implied = said.filter((line) => /default partition "call_events_rest" is implied by existing/.test(line));
    expect(implied).toHaveLength(5);
    expect(await saidByRests(api.database)).toEqual([]);
    const callUuid = idAt(at + 30 * DAY_MS);
    await talk(api.database, callUuid);
    expect(await placesOf(api.database, callUuid)).toEqual({ call_events_rest: 2, call_turns_rest: 1 });
    await api.database.query('DELETE FROM call_events_rest');
  });

  it('may be given up halfway: the next node lets the rest take every row, and makes them', async () => {
    const at = today + 180 * DAY_MS;
    await fillRest(api.database, at - 30 * DAY_MS);
    // As by a process that was killed between two steps.
    await api.database.query(`SELECT rest_without('call_events', $1::date, 'refuse')`, [dayOf(at + 3 * DAY_MS)]);
    await api.database.query(`SELECT rest_without('call_turns', $1::date, 'refuse')`, [dayOf(at + 20 * DAY_MS)]);
    const { made } = await makeDays(database, at);
    expect(made).toHaveLength(16);
    expect(await saidByRests(api.database)).toEqual([]);
    await api.database.query('DELETE FROM call_events_rest');
  });

  it('come later where a statement took too long, as where the rest was in use', async () => {
    const at = today + 210 * DAY_MS;
    await api.database.query('ALTER FUNCTION copy_rights(text, text) RENAME TO copy_at_once');
    await api.database.query(`
      CREATE FUNCTION copy_rights(of_table text, to_table text) RETURNS void LANGUAGE sql AS
        $$ SELECT pg_sleep(CASE WHEN of_table = 'call_turns' THEN 60 ELSE 0 END) $$`);
    const hasty = unhurried(api.database, 'statement_timeout');
    const early: string[] = [];
    // On a busy machine one of events may take too long too.
    const left = await eventually('the days of events', async () => {
      const { made, left } = await makeDays(hasty, at);
      early.push(...made);
      return left.every((name) => name.startsWith('call_turns')) && left;
    });
    expect([early.length, left.length]).toEqual([8, 8]);
    await api.database.query('DROP FUNCTION copy_rights(text, text)');
    await api.database.query('ALTER FUNCTION copy_at_once(text, text) RENAME TO copy_rights');
    expect((await makeDays(database, at)).made).toEqual(left);
  });

  it('are not waited for by others when a node stands still in the middle', async () => {
    const impatient = unhurried(api.database, 'idle_in_transaction_session_timeout');
    const stuck = changeDays(impatient, { parent: 'call_turns', lockLimitMs: 500 }, async (tx) => {
      await tx.query('LOCK TABLE call_turns IN ACCESS EXCLUSIVE MODE');
      // It goes on when somebody else has read the table.
      await api.database.query('SELECT 1 FROM call_turns LIMIT 1');
    });
    expect(await stuck).toEqual({ why: 'this node stood still in the middle of it' });
  });

  it('wait while somebody works with the rest, and come later', async () => {
    const at = today + 120 * DAY_MS;
    const other = new pg.Client({ connectionString: api.connectionString });
    await other.connect();
    await other.query('BEGIN');
    await other.query('SELECT count(*) FROM call_turns_rest');
    const { made, left } = await makeDays(database, at);
    expect([made.length, left.length]).toEqual([8, 8]);
    expect(left.every((name) => name.startsWith('call_turns'))).toBe(true);
    await other.query('COMMIT');
    await other.end();
    expect((await makeDays(database, at)).made).toEqual(left);
  });
});

/** Runs each statement, and keeps how it is run. */
function watched(): Queryable & { plans: string[] } {
  const plans: string[] = [];
  return {
    plans,
    async query<Row extends object>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
      const plan = await api.database.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, parameters);
      plans.push(plan.map((line) => line['QUERY PLAN']).join('\n'));
      return api.database.query<Row>(sql, parameters);
    },
  };
}

describe('what is read of calls', () => {
  it('is read in the partitions of their days and in no other', async () => {
    const [first, second] = [idAt(today - 7, 1), idAt(today + 7, 1)];
    for (const callUuid of [first, second]) {
      await api.insertCall(api.acme, { call_uuid: callUuid });
      await talk(api.database, callUuid);
    }
    const db = watched();
    await readTurns(db, first);
    await readNews(db, new Map([first, second].map((callUuid) => [callUuid, '0'])));
    await recoveriesOf(
      db,
      [first, second].map((callUuid) => ({ callUuid, epoch: 1 })),
    );
    const read = db.plans.map((plan) => [...new Set(plan.match(/call_(?:turns|events)_(?:\d{8}|rest)\b/g))].toSorted());
    const events = [today - DAY_MS, today].map((at) => partitionOf('call_events', at));
    expect(read).toEqual([[partitionOf('call_turns', today - DAY_MS)], events, events]);
  });

  it('is never prepared, however often it is asked', async () => {
    const callUuid = idAt(today + 8, 1);
    await api.insertCall(api.acme, { call_uuid: callUuid });
    await talk(api.database, callUuid);
    const one = openPatientDatabase(api.connectionString);
    try {
      for (let time = 0; time < 6; time++) {
        await readTurns(one, callUuid);
        await readEvents(one, callUuid, '0');
        await readNews(one, new Map([[callUuid, '0']]));
        await recoveriesOf(one, [{ callUuid, epoch: 1 }]);
      }
      const prepared = await one.query<{ statement: string }>('SELECT statement FROM pg_prepared_statements');
      expect(prepared.filter(({ statement }) => /call_(?:turns|events)/.test(statement))).toEqual([]);
    } finally {
      await one.close();
    }
  });

  it('opens the partitions of its day alone also in the function that makes its search row', async () => {
    const callUuid = idAt(today + 9, 1);
    const at = new Date(today + 9);
    await api.insertCall(api.acme, {
      call_uuid: callUuid,
      status: 'completed',
      ended_reason: 'agent_hangup',
      answered_at: at,
      ended_at: at,
      transcript_status: 'ready',
    });
    await talk(api.database, callUuid);
    const client = await session();
    // As it may come to be in a session that has called the function often.
    await client.query('SET plan_cache_mode = force_generic_plan');
    await client.query('BEGIN');
    await client.query('SELECT call_search_write(c) FROM calls c WHERE c.call_uuid = $1', [callUuid]);
    const { rows } = await client.query<{ name: string }>(
      `SELECT DISTINCT relation::regclass::text AS name FROM pg_locks
        WHERE pid = pg_backend_pid() AND relation::regclass::text ~ '^call_(events|turns)_([0-9]{8}|rest)$' ORDER BY name`,
    );
    const ofToday = ['call_events', 'call_turns'].map((table) => partitionOf(table, today));
    expect(rows.map(({ name }) => name)).toEqual(ofToday);
    await client.query('ROLLBACK');
  });

  it('comes in order over midnight, page by page, with its turns', async () => {
    const made: string[] = [];
    for (const [number, offsetMs] of [-2, -1, 0, 1].entries()) {
      const callUuid = idAt(today + offsetMs, number + 10);
      const at = new Date(today + offsetMs);
      await api.insertCall(api.acme, {
        call_uuid: callUuid,
        created_at: at,
        name: 'midnight',
        idempotency_key: 'night',
      });
      await talk(api.database, callUuid);
      made.unshift(callUuid);
    }
    const seen: { callUuid: string; turns: unknown[] }[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const answer = await api.app.inject({
        url: `/api/developer/calls?idempotencyKey=night&limit=1${cursor}`,
        headers: { authorization: `Bearer ${api.acme.key}` },
      });
      const { data, nextCursor } = answer.json() as { data: typeof seen; nextCursor: string | null };
      seen.push(...data);
      cursor = nextCursor === null ? null : `&cursor=${nextCursor}`;
    }
    expect(seen.map(({ callUuid }) => callUuid)).toEqual(made);
    expect(seen.map(({ turns }) => turns.length)).toEqual([1, 1, 1, 1]);
  });
});
