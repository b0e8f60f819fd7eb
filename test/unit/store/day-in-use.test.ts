/** A day that is made late, while its calls are written, read and erased. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/store/database.ts';
import { makeDays } from '../../../src/store/day-maker.ts';
import {
  DAY_MS,
  dayOf,
  idAt,
  midnightBefore,
  NOTHING_MADE,
  namesOf,
  partitionOf,
  placesOf,
  talk,
} from '../../support/call-days.ts';
import { eventually } from '../../support/eventually.ts';
import { ownSessions } from '../../support/own-sessions.ts';
import { type OpenTestDatabase, openTestDatabase } from '../../support/test-database.ts';
import { unhurried } from '../../support/unhurried-days.ts';

let test: OpenTestDatabase;
/** For whoever makes days. */
let days: Database;
let today: number;
beforeAll(async () => {
  test = await openTestDatabase();
  days = unhurried(test.database);
  today = midnightBefore(Date.now());
  await test.database.query(`INSERT INTO workspaces (id, slug, name) VALUES ($1, 'acme', 'Acme')`, [ONE]);
  await test.database.query(
    `INSERT INTO agents (id, workspace_id, name, direction, current_version) VALUES ($1, $1, 'a', 'any', 1)`,
    [ONE],
  );
});
afterAll(() => test.close());

const session = ownSessions(() => test.connectionString);

/** Sessions that wait for a table. */
async function waiting(): Promise<number> {
  const [row] = await test.database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted AND relation IS NOT NULL
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  return row!.count;
}

const ONE = '00000000-0000-7000-8000-000000000001';
const INSERT_CALL = `
  INSERT INTO calls (call_uuid, workspace_id, agent_id, agent_version, channel, to_number, from_number, name, request_id, status, carrier)
  VALUES ($1, $2, $2, 1, 'web', '', '', 'Asha', 'r', 'in_progress', 'web')`;
const MAKE = `SELECT make_day('call_turns', $1::date) AS made`;

describe('a day that is made late', () => {
  it.each([
    ['of which the rest has rows', 40, true],
    ['that has begun', -4, false],
    ['that begins tomorrow', 1, false],
  ])('%s takes what is written meanwhile, and its rows are found', async (_what, days, hasRows) => {
    const at = today + days * DAY_MS;
    if (days === 1) await test.database.query(`DROP TABLE ${partitionOf('call_turns', at)}`);
    const [there, erased, written] = [1, 2, 3].map((number) => idAt(at + number, number));
    for (const callUuid of hasRows ? [there!, erased!] : []) await talk(test.database, callUuid);
    const maker = await session();
    await maker.query('BEGIN');
    expect((await maker.query(MAKE, [dayOf(at)])).rows).toEqual([{ made: 'made' }]);
    const insert = 'INSERT INTO call_turns (call_uuid, turn_id, position, turn) VALUES ($1, $2, 1, $3) RETURNING 1';
    const doings: [sql: string, values: unknown[]][] = [
      [insert, [written, 't1', {}]],
      ['SELECT 1 FROM call_turns WHERE call_uuid = $1', [there]],
      ['DELETE FROM call_turns WHERE call_uuid = $1 RETURNING 1', [erased]],
    ];
    const asked = await Promise.all(doings.map(async ([sql, values]) => ({ client: await session(), sql, values })));
    const done = Promise.allSettled(asked.map(({ client, sql, values }) => client.query(sql, values)));
    await eventually('all to wait', async () => (await waiting()) === doings.length);
    await maker.query('COMMIT');
    const found = (await done).map((one) => (one.status === 'fulfilled' ? one.value.rowCount : String(one.reason)));
    expect(found).toEqual(hasRows ? [1, 1, 1] : [1, 0, 0]);
    expect(await placesOf(test.database, written!)).toEqual({ [partitionOf('call_turns', at)]: 1 });
  });

  it('is not read under that lock where the rest is large: it stays there, and other days are made', async () => {
    const at = today + 100 * DAY_MS;
    await test.database.query(
      `INSERT INTO call_turns SELECT $1::uuid, 't' || n, n, jsonb_build_object('x', repeat('x', 1600))
         FROM generate_series(1, 60000) AS n`,
      [idAt(at - 3 * DAY_MS)],
    );
    const [size] = await test.database.query<{ bytes: string }>(`SELECT pg_relation_size('call_turns_rest') AS bytes`);
    expect(Number(size!.bytes)).toBeGreaterThan(100e6);
    await talk(test.database, idAt(at + 2 * DAY_MS));
    const { made, late, left } = await makeDays(days, at);
    expect([made.length, late, left]).toEqual([15, [`call_turns ${dayOf(at + 2 * DAY_MS)}`], []]);
    await test.database.query('TRUNCATE call_turns_rest');
  });

  it('loses no words of a call whose search row is written meanwhile', async () => {
    const callUuid = idAt(today + 140 * DAY_MS, 4);
    await test.database.query(INSERT_CALL, [callUuid, ONE]);
    await talk(test.database, callUuid);
    await test.database.query(
      `UPDATE calls SET ended_at = now(), status = 'completed', ended_reason = 'agent_hangup', transcript_status = 'ready' WHERE call_uuid = $1`,
      [callUuid],
    );
    const maker = await session();
    await maker.query('BEGIN');
    await maker.query(MAKE, [dayOf(today + 140 * DAY_MS)]);
    const reader = await session();
    const found = `SELECT (call_search_of(c)).document @@ plainto_tsquery('simple', 'hello') AS found FROM calls c WHERE call_uuid = $1`;
    const read = reader.query<{ found: boolean }>(found, [callUuid]);
    await eventually('the reader to wait', async () => (await waiting()) === 1);
    await maker.query('COMMIT');
    expect((await read).rows).toEqual([{ found: true }]);
  });

  it('waits for who writes a row of it, and comes in the next hour', async () => {
    const at = today + 60 * DAY_MS;
    const callUuid = idAt(at + 3 * DAY_MS);
    const writer = await session();
    await writer.query('BEGIN');
    await writer.query(`INSERT INTO call_turns (call_uuid, turn_id, position, turn) VALUES ($1, 't1', 1, '{}')`, [
      callUuid,
    ]);
    const maker = await session();
    const making = maker.query(MAKE, [dayOf(at + 3 * DAY_MS)]).then(
      () => 'made',
      ({ code }: { code: string }) => code,
    );
    await eventually('the maker to wait', async () => (await waiting()) === 1);
    await writer.query('COMMIT');
    expect(await making).toBe('55P03');
    // It answers when what it had locked is free.
    await maker.query('SELECT 1');
    const { made, left } = await makeDays(days, at);
    expect([made, left]).toEqual([namesOf(at, 8), []]);
    expect(await placesOf(test.database, callUuid)).toEqual({ [partitionOf('call_turns', at + 3 * DAY_MS)]: 1 });
  });

  it('whose name another table has is left, and it is said so each time; those of the other table are made', async () => {
    const at = today + 80 * DAY_MS;
    const name = partitionOf('call_events', at + 2 * DAY_MS);
    await test.database.query(`CREATE TABLE ${name} ()`);
    const { made, left, why } = await makeDays(days, at);
    expect(left).toContain(`call_events ${dayOf(at + 2 * DAY_MS)}`);
    expect(why).toEqual([`relation "${name}" already exists`]);
    expect(made).toHaveLength(15);
    await test.database.query(`DROP TABLE ${name}`);
    expect(await makeDays(days, at)).toEqual({ ...NOTHING_MADE, made: left });
  });
});
