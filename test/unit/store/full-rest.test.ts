/** Making and dropping days where the rest is full or in use, under settings of others and beside their functions. */
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { type Database, openDatabase, type Queryable } from '../../../src/store/database.ts';
import { type DaysMade, makeDays, startDayMaker } from '../../../src/store/day-maker.ts';
import {
  DAY_MS,
  dayOf,
  fillRest,
  idAt,
  midnightBefore,
  NOTHING_MADE,
  namesOf,
  partitionOf,
  saidByRests,
  talk,
} from '../../support/call-days.ts';
import { eventually } from '../../support/eventually.ts';
import { ownSessions } from '../../support/own-sessions.ts';
import { type OpenTestDatabase, openTestDatabase } from '../../support/test-database.ts';
import { unhurried } from '../../support/unhurried-days.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const MINUTE_MS = 60_000;
/** The service's own, which every other statement keeps on a busy machine too. */
const LIMIT_MS = 10_000;

let test: OpenTestDatabase;
/** For whoever makes days. */
let days: Database;
let today: number;
beforeAll(async () => {
  test = await openTestDatabase();
  days = unhurried(test.database);
  today = midnightBefore(Date.now());
});
afterAll(() => test.close());

const session = ownSessions(() => test.connectionString);

/** Something happens after a rest has begun to refuse a day, and before it is read. */
function beforeCheck(happens: () => Promise<unknown>): Database {
  const watched = (db: Queryable): Queryable => ({
    async query<Row extends object>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
      if (parameters.includes('check')) await happens();
      return db.query<Row>(sql, parameters);
    },
  });
  const transaction: Database['transaction'] = (work, options) => days.transaction((tx) => work(watched(tx)), options);
  return { ...days, transaction };
}

/** Reading a rest takes so long, until the returned function is called. */
async function slowCheck(seconds: number): Promise<() => Promise<void>> {
  await test.database.query('ALTER FUNCTION rest_without(text, date, text) RENAME TO rest_without_at_once');
  await test.database.query(`
    CREATE FUNCTION rest_without(parent text, day date, step text) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      IF step = 'check' THEN
        PERFORM pg_sleep(${seconds});
      END IF;
      PERFORM rest_without_at_once(parent, day, step);
    END
    $$`);
  return async () => {
    await test.database.query('DROP FUNCTION rest_without(text, date, text)');
    await test.database.query('ALTER FUNCTION rest_without_at_once(text, date, text) RENAME TO rest_without');
  };
}

describe('a rest that is full, while a day is made', () => {
  it('that somebody goes on reading, so that it goes on refusing the day: told as an error, and tried each minute', async () => {
    const at = today + 240 * DAY_MS;
    await makeDays(days, at);
    await fillRest(test.database, at - 5 * DAY_MS);
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
    expect(await saidByRests(test.database)).toHaveLength(1);
    clock.advanceMs(MINUTE_MS);
    await maker.idle();
    expect(errors()).toMatchObject([{ refused: [day] }, { refused: [day] }]);
    // Where another node changes days at that minute, it is tried at the next.
    const other = await session();
    await other.query(`BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('parley.days', 0))`);
    clock.advanceMs(MINUTE_MS);
    await maker.idle();
    await other.query('COMMIT');
    await dump.query('COMMIT');
    clock.advanceMs(MINUTE_MS);
    await maker.idle();
    expect(errors()).toHaveLength(2);
    expect(await saidByRests(test.database)).toEqual([]);
    expect(lines.flatMap(({ made = [] }) => made)).toContain(day);
    await maker.close();
    expect(clock.pendingTimers).toBe(0);
    await test.database.query('DELETE FROM call_events_rest');
  });

  it('is not refused a day of which it has rows: whoever writes them has a wrong clock, and goes on', async () => {
    const at = today + 255 * DAY_MS;
    await fillRest(test.database, at - 2 * DAY_MS);
    await talk(test.database, idAt(at + 5 * DAY_MS));
    const asked: unknown[] = [];
    const database = beforeCheck(async () => void asked.push(await saidByRests(test.database)));
    const { made, left } = await makeDays(database, at);
    expect([made.length, left]).toEqual([16, []]);
    const name = `without_${dayOf(at + 5 * DAY_MS).replaceAll('-', '')}`;
    expect(asked).not.toEqual([]);
    expect(JSON.stringify(asked)).not.toContain(name);
    await test.database.query('DELETE FROM call_events_rest');
  });

  it('is read for longer than any statement of the service may take', async () => {
    const at = today + 270 * DAY_MS;
    await makeDays(days, at);
    await test.database.query('DELETE FROM call_turns_rest');
    await fillRest(test.database, at - 5 * DAY_MS);
    const atOnce = await slowCheck((LIMIT_MS + 500) / 1_000);
    const connectionString = test.connectionString.replace(/statement_timeout=\d+/, `statement_timeout=${LIMIT_MS}`);
    const hurried = openDatabase({
      connectionString,
      answerLimitMs: LIMIT_MS,
      // Shorter than the reading: the session with the lock on days says nothing for as long.
      pauseLimitMs: LIMIT_MS - 500,
      onIdleError: () => {},
    });
    try {
      expect(await makeDays(unhurried(hurried), at + DAY_MS)).toEqual({
        ...NOTHING_MADE,
        made: namesOf(at + 8 * DAY_MS, 1),
      });
    } finally {
      await hurried.close();
      await atOnce();
    }
    await test.database.query('DELETE FROM call_events_rest');
  });

  it('is read no further when the node ends, and takes every row then', async () => {
    const at = today + 290 * DAY_MS;
    await makeDays(days, at);
    await fillRest(test.database, at - 5 * DAY_MS);
    const atOnce = await slowCheck(600);
    const log = pino({ level: 'silent' });
    const maker = startDayMaker({ database: days, clock: new VirtualClock(at + DAY_MS), log });
    const isReading = async (): Promise<boolean> => {
      const found = await test.database.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`,
      );
      return found.length > 0;
    };
    await eventually('the rest to be read', isReading);
    expect(await saidByRests(test.database)).toHaveLength(1);
    await maker.close();
    expect(await saidByRests(test.database)).toEqual([]);
    await atOnce();
    await test.database.query('DELETE FROM call_events_rest');
  });

  it('is vacuumed meanwhile: that is waited for, and nobody else is held up', async () => {
    const at = today + 310 * DAY_MS;
    const vacuum = await session();
    await vacuum.query('BEGIN; LOCK TABLE call_events_rest IN SHARE UPDATE EXCLUSIVE MODE');
    const making = makeDays(days, at);
    const isWaiting = async (): Promise<boolean> => {
      const found = await test.database.query(
        `SELECT 1 FROM pg_locks WHERE NOT granted AND mode = 'ShareUpdateExclusiveLock' AND relation = 'call_events_rest'::regclass
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      );
      return found.length > 0;
    };
    await eventually('the making of days to wait', isWaiting);
    await talk(test.database, idAt(at - 5 * DAY_MS));
    await vacuum.query('COMMIT');
    expect(await making).toEqual({ ...NOTHING_MADE, made: expect.any(Array) });
    expect(await makeDays(days, at)).toEqual(NOTHING_MADE);
  });

  it('is changed by one node at a time: what it was told to refuse, no other takes back', async () => {
    const at = today + 330 * DAY_MS;
    await makeDays(days, at);
    await fillRest(test.database, at - 5 * DAY_MS);
    const others: DaysMade[] = [];
    const database = beforeCheck(async () => {
      others.push(await makeDays(days, at + DAY_MS));
      expect(await saidByRests(test.database)).toHaveLength(1);
    });
    const made = await makeDays(database, at + DAY_MS);
    expect(made).toEqual({ ...NOTHING_MADE, made: namesOf(at + 8 * DAY_MS, 1) });
    expect(others).not.toEqual([]);
    for (const other of others) expect(other).toEqual({ ...NOTHING_MADE, isElsewhere: true });
    await test.database.query('DELETE FROM call_events_rest');
  });

  it('that somebody has let take the rows by hand meanwhile is left, with the cause', async () => {
    const at = today + 345 * DAY_MS;
    await makeDays(days, at);
    await test.database.query('DELETE FROM call_turns_rest');
    await fillRest(test.database, at - 2 * DAY_MS);
    const day = dayOf(at + 8 * DAY_MS);
    const byHand = `SELECT rest_without('call_events', $1::date, 'allow')`;
    const database = beforeCheck(() => test.database.query(byHand, [day]));
    expect(await makeDays(database, at + DAY_MS)).toEqual({
      ...NOTHING_MADE,
      made: [`call_turns ${day}`],
      left: [`call_events ${day}`],
      why: ['somebody else was faster'],
    });
    await test.database.query('DELETE FROM call_events_rest');
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
    const [named] = await test.database.query<{ name: string }>('SELECT current_database() AS name');
    const setting = `ALTER DATABASE ${named!.name} SET default_transaction_isolation`;
    await test.database.query(`${setting} = 'repeatable read'`);
    const theirs = openPatientDatabase(test.connectionString, 4);
    try {
      expect(await makeDays(unhurried(theirs), today + 360 * DAY_MS)).toEqual({
        ...NOTHING_MADE,
        made: namesOf(today + 360 * DAY_MS, 8),
      });
    } finally {
      await theirs.close();
      await test.database.query(`${setting} = 'read committed'`);
    }
  });

  it('refuses no rows of a day that is near, whatever its clock says', async () => {
    for (const days of [-1, 0, 1]) {
      const word = `SELECT rest_without('call_events', (clock_timestamp() AT TIME ZONE 'UTC')::date + $1::int, 'refuse')`;
      await expect(test.database.query(word, [days])).rejects.toMatchObject({ code: '22023' });
    }
  });

  it('does so for days of about now alone', async () => {
    for (const days of [-401, 401]) {
      const made = test.database.query(`SELECT make_day('call_events', current_date + $1::int)`, [days]);
      await expect(made).rejects.toMatchObject({ code: '22023' });
      const word = `SELECT rest_without('call_events', current_date + $1::int, 'refuse')`;
      await expect(test.database.query(word, [days])).rejects.toMatchObject({ code: '22023' });
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
      // And of a schema that he has before ours.
      await client.query('CREATE SCHEMA theirs; SET LOCAL search_path TO theirs, public');
      for (const name of ['assert_days_of(text)', 'copy_rights(text, text)']) {
        await client.query(
          `CREATE FUNCTION theirs.${name} RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE 'taken'; END $$`,
        );
      }
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
