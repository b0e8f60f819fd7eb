/** A database of before, with calls in it and a node of that version at work, gets its partitions by day. */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeDays } from '../../../src/store/day-maker.ts';
import { migrate } from '../../../src/store/migrate.ts';
import { knownMigrations, migrationsFolder } from '../../../src/store/migration-files.ts';
import { DAY_MS, dayOf, idAt, midnightBefore, partitionOf, placesOf, talk } from '../../support/call-days.ts';
import { type OpenTestDatabase, openTestDatabase } from '../../support/test-database.ts';

const LAST_BEFORE = 51;
const ONE = '00000000-0000-7000-8000-000000000001';

let test: OpenTestDatabase;
let folder: string;
beforeEach(async () => {
  test = await openTestDatabase({ maxConnections: 4, template: 'template1' });
  folder = mkdtempSync(join(tmpdir(), 'parley-migrations-'));
  for (const name of knownMigrations().filter((one) => Number.parseInt(one, 10) <= LAST_BEFORE)) {
    copyFileSync(join(migrationsFolder(), `${name}.sql`), join(folder, `${name}.sql`));
  }
  await migrate(test.connectionString, { folder });
  await test.database.query(`INSERT INTO workspaces (id, slug, name) VALUES ($1, 'acme', 'Acme')`, [ONE]);
  await test.database.query(
    `INSERT INTO agents (id, workspace_id, name, direction, current_version) VALUES ($1, $1, 'a', 'any', 1)`,
    [ONE],
  );
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await test.close();
});

/** Their ids are of an hour each, back from now. */
async function fill(calls: number): Promise<string[]> {
  const ids = Array.from({ length: calls }, (_none, at) => idAt(Date.now() - at * 3_600_000, at));
  await test.database.query(INSERT_CALLS, [ids, ONE]);
  for (const id of ids) await talk(test.database, id);
  return ids;
}

const INSERT_CALLS = `
  INSERT INTO calls (call_uuid, workspace_id, agent_id, agent_version, channel, to_number, from_number, name, request_id, status, carrier)
  SELECT id, $2, $2, 1, 'web', '', '', 'Asha', 'r', 'in_progress', 'web' FROM unnest($1::uuid[]) AS id`;

async function sumOf(): Promise<unknown> {
  const [row] = await test.database.query(
    `SELECT (SELECT count(*)::int FROM call_turns) AS turns, (SELECT count(*)::int FROM call_events) AS events,
            (SELECT md5(string_agg(t::text, E'\\n' ORDER BY t::text)) FROM call_turns t) AS said,
            (SELECT md5(string_agg(e::text, E'\\n' ORDER BY id)) FROM call_events e) AS told`,
  );
  return row;
}

describe('a database of before', () => {
  it('keeps each row where it is, as one partition, and has days from a week on; ids of events go on', async () => {
    const calls = await fill(50);
    const before = await sumOf();
    const { done } = await migrate(test.connectionString);
    expect(done.filter((name) => name.includes('_by_day'))).toHaveLength(2);
    expect(await sumOf()).toEqual(before);
    expect(await placesOf(test.database, calls[49]!)).toEqual({ call_events_before: 2, call_turns_before: 1 });
    const today = midnightBefore(Date.now());
    const [coming, later] = [idAt(today + 8 * DAY_MS - 1), idAt(today + 8 * DAY_MS)];
    await test.database.query(INSERT_CALLS, [[coming, later], ONE]);
    for (const callUuid of [coming, later]) await talk(test.database, callUuid);
    expect(await placesOf(test.database, coming)).toEqual({ call_events_before: 2, call_turns_before: 1 });
    expect(Object.keys(await placesOf(test.database, later))).toEqual([
      partitionOf('call_events', today + 8 * DAY_MS),
      partitionOf('call_turns', today + 8 * DAY_MS),
    ]);
    const events = await test.database.query<{ id: string }>('SELECT id FROM call_events ORDER BY id');
    expect(events.map(({ id }) => Number(id))).toEqual(Array.from({ length: 104 }, (_none, at) => at + 1));
    // What was said for the time between is forgotten.
    expect(await test.database.query(`SELECT 1 FROM pg_constraint WHERE conname = 'until_days'`)).toEqual([]);
    expect((await makeDays(test.database, Date.now() + 4 * DAY_MS)).made).toEqual(
      [today + 11 * DAY_MS].flatMap((at) => [`call_events ${dayOf(at)}`, `call_turns ${dayOf(at)}`]),
    );
  });

  it('is migrated beside a node of the version before, of whose statements none fails, and none is lost', async () => {
    await fill(20);
    const live = idAt(Date.now(), 777);
    await test.database.query(INSERT_CALLS, [[live], ONE]);
    const writer = new pg.Client({ connectionString: test.connectionString });
    await writer.connect();
    let isOver = false;
    let written = 0;
    const writing = (async () => {
      while (!isOver) {
        written++;
        await writer.query('BEGIN');
        await writer.query('SELECT 1 FROM calls WHERE call_uuid = $1 FOR UPDATE', [live]);
        await writer.query({
          name: 'events',
          text: `INSERT INTO call_events (call_uuid, at, kind, data) VALUES ($1, now(), 'status', '{}') RETURNING id`,
          values: [live],
        });
        await writer.query({
          name: 'turns',
          text: `INSERT INTO call_turns (call_uuid, turn_id, position, turn) SELECT $1::uuid, 't' || n, n, '{}' FROM generate_series(1, $2::int) AS n
                 ON CONFLICT (call_uuid, turn_id) DO UPDATE SET turn = EXCLUDED.turn`,
          values: [live, Math.min(written, 5)],
        });
        await writer.query(`UPDATE calls SET name = $2 WHERE call_uuid = $1`, [live, String(written)]);
        await writer.query('COMMIT');
      }
    })();
    await migrate(test.connectionString);
    isOver = true;
    await writing;
    await writer.end();
    const [count] = await test.database.query(
      `SELECT (SELECT count(*)::int FROM call_events WHERE call_uuid = $1) AS events, (SELECT count(*)::int FROM call_turns WHERE call_uuid = $1) AS turns`,
      [live],
    );
    expect(count).toEqual({ events: written, turns: Math.min(written, 5) });
  });

  it('is not read under a lock that others wait for, when the tables change places', async () => {
    await fill(3);
    const notices: string[] = [];
    const first = knownMigrations().filter((name) => Number.parseInt(name, 10) <= 56);
    for (const name of first) copyFileSync(join(migrationsFolder(), `${name}.sql`), join(folder, `${name}.sql`));
    await migrate(test.connectionString, { folder });
    const client = new pg.Client({ connectionString: test.connectionString });
    client.on('notice', ({ message }) => void notices.push(String(message)));
    await client.connect();
    await client.query('SET client_min_messages = debug1');
    await client.query(`BEGIN; SELECT begin_days('call_turns'); ROLLBACK`);
    await client.end();
    expect(notices.join('\n')).toContain('partition constraint for table "call_turns_before" is implied by existing');
    expect(notices.join('\n')).not.toContain('verifying table "call_turns_before"');
  });

  it('that a call of a clock a year ahead is in has it in the rest', async () => {
    const strange = idAt(Date.now() + 365 * DAY_MS);
    await test.database.query(INSERT_CALLS, [[strange], ONE]);
    await talk(test.database, strange);
    const calls = await fill(3);
    const before = await sumOf();
    await migrate(test.connectionString);
    expect(await sumOf()).toEqual(before);
    expect(await placesOf(test.database, strange)).toEqual({ call_events_rest: 2, call_turns_rest: 1 });
    expect(await placesOf(test.database, calls[0]!)).toEqual({ call_events_before: 2, call_turns_before: 1 });
  });

  it('can be read by whoever could read it, and goes on from wherever the migration was broken off', async () => {
    await fill(3);
    const role = `reader_${test.connectionString.replace(/.*test_|\?.*/g, '')}`;
    await test.database.query(`CREATE ROLE ${role}`);
    try {
      await test.database.query(`GRANT SELECT ON call_turns TO ${role}`);
      for (const upTo of [53, 55, 57, 58]) {
        for (const name of knownMigrations().filter((one) => Number.parseInt(one, 10) <= upTo)) {
          copyFileSync(join(migrationsFolder(), `${name}.sql`), join(folder, `${name}.sql`));
        }
        await migrate(test.connectionString, { folder });
        const callUuid = idAt(Date.now(), 900 + upTo);
        await test.database.query(INSERT_CALLS, [[callUuid], ONE]);
        await talk(test.database, callUuid);
        expect(Object.values(await placesOf(test.database, callUuid))).toEqual([2, 1]);
      }
      const [may] = await test.database.query(`SELECT has_table_privilege($1, 'call_turns', 'SELECT') AS read`, [role]);
      expect(may).toEqual({ read: true });
    } finally {
      await test.database.query(`DROP OWNED BY ${role}`);
      await test.database.query(`DROP ROLE ${role}`);
    }
  });
});
