/** Partitions by day: where rows go, that any node makes the days to come, and that only days asked for are read. */
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readEvents, readNews } from '../../../src/api/calls/stored-events.ts';
import { recoveriesOf } from '../../../src/call-log/call-recovery.ts';
import { readTurns } from '../../../src/calls/call-turns.ts';
import { type Database, openDatabase, type Queryable } from '../../../src/store/database.ts';
import { changeDays } from '../../../src/store/day-changes.ts';
import { type DaysMade, makeDays, startDayMaker } from '../../../src/store/day-maker.ts';
import { DAY_TABLES } from '../../../src/store/day-tables.ts';
import { DAY_MS, dayOf, idAt, midnightBefore, partitionOf, placesOf, talk } from '../../support/call-days.ts';
import { eventually } from '../../support/eventually.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { type ApiFixture, createApiFixture } from '../api/api-fixture.ts';

let api: ApiFixture;
let today: number;
beforeAll(async () => {
  api = await createApiFixture();
  today = midnightBefore(Date.now());
});
afterAll(() => api.close());

const sessions: pg.Client[] = [];
afterEach(async () => {
  for (const client of sessions.splice(0)) await client.end();
});
async function session(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: api.connectionString });
  sessions.push(client);
  await client.connect();
  return client;
}

const NOTHING: DaysMade = { made: [], late: [], left: [], refused: [], why: [] };
const MINUTE_MS = 60_000;

async function partitions(table: string): Promise<string[]> {
  const rows = await api.database.query<{ name: string }>(
    'SELECT name FROM day_partitions WHERE parent = $1 ORDER BY name',
    [table],
  );
  return rows.map(({ name }) => name);
}

const namesOf = (fromMs: number, days: number): string[] =>
  Array.from({ length: days }, (_none, at) => dayOf(fromMs + at * DAY_MS)).flatMap((day) =>
    [...DAY_TABLES].toSorted().map((table) => `${table} ${day}`),
  );

const saidByRests = (): Promise<unknown[]> =>
  api.database.query(`SELECT conname FROM pg_constraint WHERE conname LIKE 'without%'`);

/** Events of a day that nobody made. */
async function fillRest(epochMs: number): Promise<void> {
  await api.database.query(
    `INSERT INTO call_events (call_uuid, kind) SELECT $1::uuid, 'status' FROM generate_series(1, 2000)`,
    [idAt(epochMs)],
  );
}

/** Something happens after a rest has begun to refuse a day, and before it is read. */
function beforeCheck(happens: () => Promise<unknown>): Database {
  const watched = (db: Queryable): Queryable => ({
    async query<Row extends object>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
      if (parameters.includes('check')) await happens();
      return db.query<Row>(sql, parameters);
    },
  });
  const transaction: Database['transaction'] = (work, options) =>
    api.database.transaction((tx) => work(watched(tx)), options);
  return { ...api.database, transaction };
}

/** Reading a rest takes so long, until the returned function is called. */
async function slowCheck(seconds: number): Promise<() => Promise<void>> {
  await api.database.query('ALTER FUNCTION rest_without(text, date, text) RENAME TO rest_without_at_once');
  await api.database.query(`
    CREATE FUNCTION rest_without(parent text, day date, step text) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      IF step = 'check' THEN
        PERFORM pg_sleep(${seconds});
      END IF;
      PERFORM rest_without_at_once(parent, day, step);
    END
    $$`);
  return async () => {
    await api.database.query('DROP FUNCTION rest_without(text, date, text)');
    await api.database.query('ALTER FUNCTION rest_without_at_once(text, date, text) RENAME TO rest_without');
  };
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
    expect(await makeDays(api.database, today)).toEqual(NOTHING);
    expect(await partitions('call_turns')).toHaveLength(10);
  });

  it('are made by any of the nodes, each once, and by the clock, an hour and a day later', async () => {
    const at = today + 60 * DAY_MS;
    const both = await Promise.all([makeDays(api.database, at), makeDays(api.database, at)]);
    const made = [...both.flatMap((one) => one.made), ...(await makeDays(api.database, at)).made];
    expect(made.toSorted()).toEqual(namesOf(at, 8).toSorted());
    expect(await makeDays(api.database, at)).toEqual(NOTHING);
    const clock = new VirtualClock(at + DAY_MS - 60_000);
    const lines: string[] = [];
    const maker = startDayMaker({
      database: api.database,
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
    const { made, late, left } = await makeDays(api.database, at);
    expect([made.length, late, left]).toEqual([15, [`call_events ${dayOf(many)}`], []]);
    const moved = { [partitionOf('call_events', few)]: 2, [partitionOf('call_turns', few)]: 1 };
    for (const callUuid of [early, last]) expect(await placesOf(api.database, callUuid)).toEqual(moved);
    expect(await placesOf(api.database, ids[0]!)).toEqual({ call_events_rest: 1 });
    expect(await saidByRests()).toEqual([]);
    await api.database.query('DELETE FROM call_events_rest');
  });

  it('are attached without a look at a rest that is full, which takes what it took', async () => {
    const at = today + 150 * DAY_MS;
    await fillRest(at - 30 * DAY_MS);
    const said: string[] = [];
    const { made, left } = await makeDays(noticed(said), at);
    expect([made.length, left]).toEqual([16, []]);
    // The days that begin within 48 hours are attached as they are.
    const implied = said.filter((line) => /default partition "call_events_rest" is implied by existing/.test(line));
    expect(implied).toHaveLength(5);
    expect(await saidByRests()).toEqual([]);
    const callUuid = idAt(at + 30 * DAY_MS);
    await talk(api.database, callUuid);
    expect(await placesOf(api.database, callUuid)).toEqual({ call_events_rest: 2, call_turns_rest: 1 });
    await api.database.query('DELETE FROM call_events_rest');
  });

  it('may be given up halfway: the next node lets the rest take every row, and makes them', async () => {
    const at = today + 180 * DAY_MS;
    await fillRest(at - 30 * DAY_MS);
    // As by a process that was killed between two steps.
    await api.database.query(`SELECT rest_without('call_events', $1::date, 'refuse')`, [dayOf(at + 3 * DAY_MS)]);
    await api.database.query(`SELECT rest_without('call_turns', $1::date, 'refuse')`, [dayOf(at + 20 * DAY_MS)]);
    const { made } = await makeDays(api.database, at);
    expect(made).toHaveLength(16);
    expect(await saidByRests()).toEqual([]);
    await api.database.query('DELETE FROM call_events_rest');
  });

  it('come later where a statement took too long, as where the rest was in use', async () => {
    const at = today + 210 * DAY_MS;
    await api.database.query('ALTER FUNCTION copy_rights(text, text) RENAME TO copy_at_once');
    await api.database.query(`
      CREATE FUNCTION copy_rights(of_table text, to_table text) RETURNS void LANGUAGE sql AS
        $$ SELECT pg_sleep(CASE WHEN of_table = 'call_turns' THEN 60 ELSE 0 END) $$`);
    const { made, left } = await makeDays(api.database, at);
    expect([made.length, left.length]).toEqual([8, 8]);
    expect(left.every((name) => name.startsWith('call_turns'))).toBe(true);
    await api.database.query('DROP FUNCTION copy_rights(text, text)');
    await api.database.query('ALTER FUNCTION copy_at_once(text, text) RENAME TO copy_rights');
    expect((await makeDays(api.database, at)).made).toEqual(left);
  });

  it('are not waited for by others when a node stands still in the middle', async () => {
    const stuck = changeDays(api.database, { parent: 'call_turns', lockLimitMs: 500 }, async (tx) => {
      await tx.query('LOCK TABLE call_turns IN ACCESS EXCLUSIVE MODE');
      // It goes on when somebody else has read the table.
      await api.database.query('SELECT 1 FROM call_turns LIMIT 1');
    });
    await expect(stuck).rejects.toThrow();
  });

  it('wait while somebody works with the rest, and come later', async () => {
    const at = today + 120 * DAY_MS;
    const other = new pg.Client({ connectionString: api.connectionString });
    await other.connect();
    await other.query('BEGIN');
    await other.query('SELECT count(*) FROM call_turns_rest');
    const { made, left } = await makeDays(api.database, at);
    expect([made.length, left.length]).toEqual([8, 8]);
    expect(left.every((name) => name.startsWith('call_turns'))).toBe(true);
    await other.query('COMMIT');
    await other.end();
    expect((await makeDays(api.database, at)).made).toEqual(left);
  });
});

describe('a rest that is full, while a day is made', () => {
  it('that somebody goes on reading, so that it goes on refusing the day: told as an error, and tried each minute', async () => {
    const at = today + 240 * DAY_MS;
    await makeDays(api.database, at);
    await fillRest(at - 5 * DAY_MS);
    // Like a dump, which holds what it has read until its end.
    const dump = await session();
    let isRead = false;
    const database = beforeCheck(async () => {
      if (isRead) return;
      isRead = true;
      await dump.query('BEGIN');
      await dump.query('SELECT 1 FROM call_events_rest LIMIT 1');
    });
    const lines: { level: number; refused?: string[]; made?: string[] }[] = [];
    const errors = () => lines.filter(({ level }) => level === 50);
    const clock = new VirtualClock(at + DAY_MS);
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    const maker = startDayMaker({ database, clock, log });
    await maker.idle();
    const day = `call_events ${dayOf(at + 8 * DAY_MS)}`;
    expect(errors()).toMatchObject([{ refused: [day] }]);
    expect(await saidByRests()).toHaveLength(1);
    clock.advanceMs(MINUTE_MS);
    await maker.idle();
    expect(errors()).toMatchObject([{ refused: [day] }, { refused: [day] }]);
    await dump.query('COMMIT');
    clock.advanceMs(MINUTE_MS);
    await maker.idle();
    expect(errors()).toHaveLength(2);
    expect(await saidByRests()).toEqual([]);
    expect(lines.flatMap(({ made = [] }) => made)).toContain(day);
    await maker.close();
    expect(clock.pendingTimers).toBe(0);
    await api.database.query('DELETE FROM call_events_rest');
  });

  it('is not refused a day of which it has rows: whoever writes them has a wrong clock, and goes on', async () => {
    const at = today + 255 * DAY_MS;
    await fillRest(at - 2 * DAY_MS);
    await talk(api.database, idAt(at + 5 * DAY_MS));
    const asked: unknown[] = [];
    const database = beforeCheck(async () => void asked.push(await saidByRests()));
    const { made, left } = await makeDays(database, at);
    expect([made.length, left]).toEqual([16, []]);
    const name = `without_${dayOf(at + 5 * DAY_MS).replaceAll('-', '')}`;
    expect(asked).not.toEqual([]);
    expect(JSON.stringify(asked)).not.toContain(name);
    await api.database.query('DELETE FROM call_events_rest');
  });

  it('is read for longer than any statement of the service may take', async () => {
    const at = today + 270 * DAY_MS;
    await makeDays(api.database, at);
    await api.database.query('DELETE FROM call_turns_rest');
    await fillRest(at - 5 * DAY_MS);
    const atOnce = await slowCheck(5);
    // Its answers are waited for 2 s longer.
    const connectionString = api.connectionString.replace(/statement_timeout=\d+/, 'statement_timeout=2000');
    const hurried = openDatabase({ connectionString, onIdleError: () => {} });
    try {
      expect(await makeDays(hurried, at + DAY_MS)).toEqual({ ...NOTHING, made: namesOf(at + 8 * DAY_MS, 1) });
    } finally {
      await hurried.close();
      await atOnce();
    }
    await api.database.query('DELETE FROM call_events_rest');
  });

  it('is read no further when the node ends, and takes every row then', async () => {
    const at = today + 290 * DAY_MS;
    await makeDays(api.database, at);
    await fillRest(at - 5 * DAY_MS);
    const atOnce = await slowCheck(600);
    const log = pino({ level: 'silent' });
    const maker = startDayMaker({ database: api.database, clock: new VirtualClock(at + DAY_MS), log });
    const isReading = async (): Promise<boolean> => {
      const found = await api.database.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`,
      );
      return found.length > 0;
    };
    await eventually('the rest to be read', isReading);
    expect(await saidByRests()).toHaveLength(1);
    await maker.close();
    expect(await saidByRests()).toEqual([]);
    await atOnce();
    await api.database.query('DELETE FROM call_events_rest');
  });

  it('is vacuumed meanwhile: that is waited for, and nobody else is held up', async () => {
    const at = today + 310 * DAY_MS;
    const vacuum = await session();
    await vacuum.query('BEGIN; LOCK TABLE call_events_rest IN SHARE UPDATE EXCLUSIVE MODE');
    const making = makeDays(api.database, at);
    const isWaiting = async (): Promise<boolean> => {
      const found = await api.database.query(
        `SELECT 1 FROM pg_locks WHERE NOT granted AND mode = 'ShareUpdateExclusiveLock' AND relation = 'call_events_rest'::regclass
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      );
      return found.length > 0;
    };
    await eventually('the making of days to wait', isWaiting);
    await talk(api.database, idAt(at - 5 * DAY_MS));
    await vacuum.query('COMMIT');
    expect(await making).toEqual({ ...NOTHING, made: expect.any(Array) });
    expect(await makeDays(api.database, at)).toEqual(NOTHING);
  });

  it('is changed by one node at a time: what it was told to refuse, no other takes back', async () => {
    const at = today + 330 * DAY_MS;
    await makeDays(api.database, at);
    await fillRest(at - 5 * DAY_MS);
    const others: DaysMade[] = [];
    const database = beforeCheck(async () => {
      others.push(await makeDays(api.database, at + DAY_MS));
      expect(await saidByRests()).toHaveLength(1);
    });
    const made = await makeDays(database, at + DAY_MS);
    expect(made).toEqual({ ...NOTHING, made: namesOf(at + 8 * DAY_MS, 1) });
    expect(others).not.toEqual([]);
    for (const other of others) expect(other).toEqual(NOTHING);
    await api.database.query('DELETE FROM call_events_rest');
  });

  it('that somebody has let take the rows by hand meanwhile is left, with the cause', async () => {
    const at = today + 345 * DAY_MS;
    await makeDays(api.database, at);
    await api.database.query('DELETE FROM call_turns_rest');
    await fillRest(at - 2 * DAY_MS);
    const day = dayOf(at + 8 * DAY_MS);
    const byHand = `SELECT rest_without('call_events', $1::date, 'allow')`;
    const database = beforeCheck(() => api.database.query(byHand, [day]));
    expect(await makeDays(database, at + DAY_MS)).toEqual({
      ...NOTHING,
      made: [`call_turns ${day}`],
      left: [`call_events ${day}`],
      why: ['somebody else was faster'],
    });
    await api.database.query('DELETE FROM call_events_rest');
  });
});

describe('whoever makes or drops a day', () => {
  it('sees what others have committed, or is refused', async () => {
    const client = await session();
    const part = partitionOf('call_events', today + 7 * DAY_MS);
    for (const sql of [`SELECT make_day('call_events', current_date + 20)`, `SELECT drop_day('${part}')`]) {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
      await expect(client.query(sql)).rejects.toMatchObject({ code: '25000' });
      await client.query('ROLLBACK');
    }
  });

  it('is a service whose database has another isolation by default: it asks for its own', async () => {
    const [named] = await api.database.query<{ name: string }>('SELECT current_database() AS name');
    const setting = `ALTER DATABASE ${named!.name} SET default_transaction_isolation`;
    await api.database.query(`${setting} = 'repeatable read'`);
    const theirs = openDatabase({ connectionString: api.connectionString, onIdleError: () => {} });
    try {
      expect(await makeDays(theirs, today + 360 * DAY_MS)).toEqual({
        ...NOTHING,
        made: namesOf(today + 360 * DAY_MS, 8),
      });
    } finally {
      await theirs.close();
      await api.database.query(`${setting} = 'read committed'`);
    }
  });

  it('does so for days of about now alone', async () => {
    for (const days of [-401, 401]) {
      const made = api.database.query(`SELECT make_day('call_events', current_date + $1::int)`, [days]);
      await expect(made).rejects.toMatchObject({ code: '22023' });
      const word = `SELECT rest_without('call_events', current_date + $1::int, 'refuse')`;
      await expect(api.database.query(word, [days])).rejects.toMatchObject({ code: '22023' });
    }
  });

  it('runs no function or operator that somebody else has put into the schema, however well its arguments fit', async () => {
    const traps = [
      ...['format(text, text)', 'format(text, text, text)', 'format(text, text, name)', 'format(text, name, text)'],
      ...['format(text, text, text, uuid, uuid)', 'format(text, text, text, text, text)', 'to_char(date, text)'],
      ...['quote_ident(name)', 'lpad(text, bigint, text)'],
    ];
    const client = await session();
    const taken = (signature: string, result: string): Promise<unknown> =>
      client.query(
        `CREATE FUNCTION public.${signature} RETURNS ${result} LANGUAGE plpgsql AS $$ BEGIN RAISE 'taken'; END $$`,
      );
    try {
      // Seen by none but this session.
      await client.query('BEGIN');
      for (const trap of traps) await taken(trap, 'text');
      await taken('is_same(oid, regclass)', 'boolean');
      await client.query('CREATE OPERATOR public.= (LEFTARG = oid, RIGHTARG = regclass, FUNCTION = public.is_same)');
      const day = 'current_date + 22';
      const steps = [
        `wait_for_vacuum('call_events', 'call_events_rest')`,
        ...['refuse', 'check', 'allow'].map((step) => `rest_without('call_events', ${day}, '${step}')`),
        `make_day('call_events', ${day})`,
      ];
      for (const step of steps) await client.query(`SELECT ${step}`);
      const { rows } = await client.query<{ name: string }>(
        `SELECT name FROM day_partitions WHERE parent = 'call_events' AND from_id = first_id_of_day(${day})`,
      );
      expect((await client.query('SELECT drop_day($1) AS gone', [rows[0]!.name])).rows).toEqual([{ gone: true }]);
    } finally {
      await client.query('ROLLBACK');
    }
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
    const database = openDatabase({
      connectionString: api.connectionString,
      maxConnections: 1,
      onIdleError: () => {},
    });
    try {
      for (let time = 0; time < 6; time++) {
        await readTurns(database, callUuid);
        await readEvents(database, callUuid, '0');
        await readNews(database, new Map([[callUuid, '0']]));
        await recoveriesOf(database, [{ callUuid, epoch: 1 }]);
      }
      const prepared = await database.query<{ statement: string }>('SELECT statement FROM pg_prepared_statements');
      expect(prepared.filter(({ statement }) => /call_(?:turns|events)/.test(statement))).toEqual([]);
    } finally {
      await database.close();
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
