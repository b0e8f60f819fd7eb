/** A database of before, with calls in it and a node of that version at work, gets its partitions by day. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PATIENCE_MS } from '../../../bench/harness/patience.ts';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { checkDays } from '../../../src/doctor/day-checks.ts';
import { makeDays } from '../../../src/store/day-maker.ts';
import { type Migrated, migrate } from '../../../src/store/migrate.ts';
import { knownMigrations, migrationsFolder } from '../../../src/store/migration-files.ts';
import { DAY_MS, dayOf, idAt, midnightBefore, partitionOf, placesOf, talk } from '../../support/call-days.ts';
import { eventually } from '../../support/eventually.ts';
import { ownSessions } from '../../support/own-sessions.ts';
import { type OpenTestDatabase, openTestDatabase } from '../../support/test-database.ts';
import { unhurried } from '../../support/unhurried-days.ts';

const LAST_BEFORE = 51;
const ONE = '00000000-0000-7000-8000-000000000001';

let test: OpenTestDatabase;
let folder: string;
beforeEach(async () => {
  test = await openTestDatabase({ maxConnections: 4, template: 'template1' });
  folder = mkdtempSync(join(tmpdir(), 'parley-migrations-'));
  await migrateUpTo(LAST_BEFORE);
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

/** The last file that runs. */
function migrateUpTo(last: number, change = (sql: string): string => sql): Promise<Migrated> {
  for (const name of knownMigrations().filter((one) => Number.parseInt(one, 10) <= last)) {
    const sql = readFileSync(join(migrationsFolder(), `${name}.sql`), 'utf8');
    writeFileSync(join(folder, `${name}.sql`), change(sql));
  }
  return migrate(test.connectionString, { folder });
}

/** For a vacuum, than a busy machine takes to let go of it. */
const waitLonger = (sql: string): string => sql.replace(`lock_timeout = '3s'`, `lock_timeout = '${PATIENCE_MS}ms'`);

const session = ownSessions(() => test.connectionString);

async function sumOf(): Promise<unknown> {
  const [row] = await test.database.query(
    `SELECT (SELECT count(*)::int FROM call_turns) AS turns, (SELECT count(*)::int FROM call_events) AS events,
            (SELECT md5(string_agg(t::text, E'\\n' ORDER BY t::text)) FROM call_turns t) AS said,
            (SELECT md5(string_agg(e::text, E'\\n' ORDER BY id)) FROM call_events e) AS told`,
  );
  return row;
}

describe('a database of before', () => {
  it('keeps each row where it is, as one partition, and has days from two months on; ids of events go on', async () => {
    const calls = await fill(50);
    const before = await sumOf();
    const { done } = await migrate(test.connectionString);
    expect(done.filter((name) => name.includes('_by_day'))).toHaveLength(2);
    expect(await sumOf()).toEqual(before);
    expect(await placesOf(test.database, calls[49]!)).toEqual({ call_events_before: 2, call_turns_before: 1 });
    const today = midnightBefore(Date.now());
    const [coming, later] = [idAt(today + 61 * DAY_MS - 1), idAt(today + 61 * DAY_MS)];
    await test.database.query(INSERT_CALLS, [[coming, later], ONE]);
    await talk(test.database, coming);
    expect(await placesOf(test.database, coming)).toEqual({ call_events_before: 2, call_turns_before: 1 });
    expect((await makeDays(unhurried(test.database), Date.now() + 54 * DAY_MS)).made).toEqual(
      [today + 61 * DAY_MS].flatMap((at) => [`call_events ${dayOf(at)}`, `call_turns ${dayOf(at)}`]),
    );
    await talk(test.database, later);
    expect(Object.keys(await placesOf(test.database, later))).toEqual([
      partitionOf('call_events', today + 61 * DAY_MS),
      partitionOf('call_turns', today + 61 * DAY_MS),
    ]);
    const events = await test.database.query<{ id: string }>('SELECT id FROM call_events ORDER BY id');
    expect(events.map(({ id }) => Number(id))).toEqual(Array.from({ length: 104 }, (_none, at) => at + 1));
    // Nobody gives one an id of his own.
    await expect(
      test.database.query(`INSERT INTO call_events (id, call_uuid, kind) VALUES (1, $1, 'status')`, [later]),
    ).rejects.toMatchObject({ code: '428C9' });
    // What was said for the time between is forgotten.
    expect(await test.database.query(`SELECT 1 FROM pg_constraint WHERE conname = 'until_days'`)).toEqual([]);
  });

  it('is migrated beside a node of the version before, of whose statements none fails, and none is lost', async () => {
    await fill(20);
    const live = idAt(Date.now(), 777);
    await test.database.query(INSERT_CALLS, [[live], ONE]);
    const writer = await session();
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
        const read = { name: 'read', text: 'SELECT 1 FROM call_turns WHERE call_uuid = $1', values: [live] };
        expect((await writer.query(read)).rowCount).toBe(Math.min(written, 5));
        const erase = { name: 'erase', text: `DELETE FROM call_turns WHERE call_uuid = $1 AND turn_id = 't5'` };
        await writer.query({ ...erase, values: [live] });
      }
    })();
    await migrate(test.connectionString);
    isOver = true;
    await writing;
    const [count] = await test.database.query(
      `SELECT (SELECT count(*)::int FROM call_events WHERE call_uuid = $1) AS events, (SELECT count(*)::int FROM call_turns WHERE call_uuid = $1) AS turns`,
      [live],
    );
    expect(count).toEqual({ events: written, turns: Math.min(written, 4) });
  });

  it('is not read under a lock that others wait for, when the tables change places', async () => {
    await fill(3);
    const notices: string[] = [];
    await migrateUpTo(56);
    const client = await session();
    client.on('notice', ({ message }) => void notices.push(String(message)));
    await client.query('SET client_min_messages = debug1');
    await client.query(`BEGIN; SELECT begin_days('call_turns'); ROLLBACK`);
    expect(notices.join('\n')).toContain('partition constraint for table "call_turns_before" is implied by existing');
    expect(notices.join('\n')).not.toContain('verifying table "call_turns_before"');
  });

  it('that a call of a clock a year ahead is in has it in the rest, and it is seen and erased all the time', async () => {
    const [strange, erased] = [1, 2].map((number) => idAt(Date.now() + 365 * DAY_MS, number));
    await test.database.query(INSERT_CALLS, [[strange, erased], ONE]);
    for (const callUuid of [strange!, erased!]) await talk(test.database, callUuid);
    const calls = await fill(3);
    const before = await sumOf();
    await migrateUpTo(55);
    expect(await sumOf()).toEqual(before);
    expect(await placesOf(test.database, strange!)).toEqual({ call_events_rest: 2, call_turns_rest: 1 });
    for (const table of ['call_turns', 'call_events']) {
      const gone = await test.database.query(`DELETE FROM ${table} WHERE call_uuid = $1 RETURNING 1`, [erased]);
      expect(gone).not.toEqual([]);
    }
    await migrate(test.connectionString);
    expect(await placesOf(test.database, strange!)).toEqual({ call_events_rest: 2, call_turns_rest: 1 });
    expect(await placesOf(test.database, erased!)).toEqual({});
    expect(await placesOf(test.database, calls[0]!)).toEqual({ call_events_before: 2, call_turns_before: 1 });
    await talk(test.database, erased!);
    expect(await placesOf(test.database, erased!)).toEqual({ call_events_rest: 2, call_turns_rest: 1 });
  });

  it('is migrated also where transactions see one moment by default', async () => {
    const [named] = await test.database.query<{ name: string }>('SELECT current_database() AS name');
    await test.database.query(`ALTER DATABASE ${named!.name} SET default_transaction_isolation = 'repeatable read'`);
    const [callUuid] = await fill(1);
    await migrate(test.connectionString);
    expect(await placesOf(test.database, callUuid!)).toEqual({ call_events_before: 2, call_turns_before: 1 });
  });

  it('whose tables are of a role that may make none is left as it is, and it is said what to grant', async () => {
    const owner = `owner_${test.connectionString.replace(/.*test_|\?.*/g, '')}`;
    await test.database.query(`CREATE ROLE ${owner}`);
    try {
      await test.database.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
      for (const table of ['call_turns', 'call_events']) {
        await test.database.query(`ALTER TABLE ${table} OWNER TO ${owner}`);
      }
      const grant = `GRANT CREATE ON SCHEMA public TO ${owner}`;
      await expect(migrate(test.connectionString)).rejects.toThrow(grant);
      await test.database.query(grant);
      await migrate(test.connectionString);
      expect(await checkDays(test.database)).toMatchObject([{ level: 'ok' }]);
    } finally {
      await test.database.query(`REASSIGN OWNED BY ${owner} TO CURRENT_USER`);
      await test.database.query(`DROP OWNED BY ${owner}`);
      await test.database.query(`DROP ROLE ${owner}`);
    }
  });

  it('whose tables are of two roles is left as it is, and it is said what to do', async () => {
    const owner = `owner_${test.connectionString.replace(/.*test_|\?.*/g, '')}`;
    await test.database.query(`CREATE ROLE ${owner}`);
    try {
      await test.database.query(`ALTER TABLE call_turns OWNER TO ${owner}`);
      await expect(migrate(test.connectionString)).rejects.toThrow(/give both to one .* and migrate again/);
      await test.database.query('ALTER TABLE call_turns OWNER TO CURRENT_USER');
      await migrate(test.connectionString);
    } finally {
      await test.database.query(`DROP OWNED BY ${owner}`);
      await test.database.query(`DROP ROLE ${owner}`);
    }
  });

  it('takes calls for two months wherever the migration was broken off, and it goes on from there', async () => {
    await fill(3);
    const latest = midnightBefore(Date.now()) + 61 * DAY_MS - 1;
    for (const upTo of [53, 54, 55, 56, 57, 58]) {
      await migrateUpTo(upTo);
      const callUuid = idAt(latest, upTo);
      await test.database.query(INSERT_CALLS, [[callUuid], ONE]);
      await talk(test.database, callUuid);
      expect(Object.values(await placesOf(test.database, callUuid))).toEqual([2, 1]);
    }
  });

  it('is told, where it is broken off there, by when it has to go on', async () => {
    await fill(1);
    await migrateUpTo(55);
    const report = await session();
    await report.query('BEGIN; SELECT 1 FROM call_turns LIMIT 1');
    const due = `before ${dayOf(midnightBefore(Date.now()) + 61 * DAY_MS)}`;
    await expect(migrate(test.connectionString, { giveUpAfterMs: 1 })).rejects.toThrow(due);
  });

  it.each([54, 55, 57, 58])('waits in file %i for an autovacuum, and holds up nobody meanwhile', async (upTo) => {
    const [callUuid] = await fill(1);
    await migrateUpTo(upTo - 1);
    const vacuum = await session();
    const table = upTo === 57 ? 'call_turns' : 'call_events';
    await vacuum.query(`BEGIN; LOCK TABLE ${table} IN SHARE UPDATE EXCLUSIVE MODE`);
    const migrated = migrateUpTo(upTo, waitLonger);
    const waits = async (): Promise<boolean> => {
      const rows = await test.database.query<{ mode: string }>(
        'SELECT mode FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())',
      );
      return rows.some(({ mode }) => mode === 'ShareUpdateExclusiveLock');
    };
    await eventually('the migration to wait', waits);
    await talk(test.database, callUuid!, 't2');
    await vacuum.query('COMMIT');
    expect((await migrated).gaveWay).toBe(0);
  });

  it('is searched by the key for what its days will not have, however small it is', async () => {
    await fill(3);
    await migrateUpTo(54);
    const scans = async (): Promise<{ whole: number; byKey: number }> => {
      const [row] = await test.database.query<{ whole: number; byKey: number }>(
        `SELECT sum(seq_scan)::int AS whole, sum(idx_scan)::int AS "byKey" FROM pg_stat_user_tables WHERE relname IN ('call_turns', 'call_events')`,
      );
      return row!;
    };
    await test.database.query('SELECT pg_stat_force_next_flush()');
    const before = await scans();
    await migrateUpTo(55);
    await eventually('the counts', async () => (await scans()).byKey > before.byKey);
    expect((await scans()).whole).toBe(before.whole);
  });

  it('can be used by whoever could use it, has days of its owner, and lets who writes calls change days', async () => {
    const [callUuid] = await fill(1);
    const suffix = test.connectionString.replace(/.*test_|\?.*/g, '');
    const [owner, service, reader] = ['owner', 'service', 'reader'].map((name) => `${name}_${suffix}`);
    for (const role of [owner, service, reader]) await test.database.query(`CREATE ROLE ${role} LOGIN PASSWORD 'x'`);
    try {
      for (const table of ['calls', 'call_turns', 'call_events']) {
        await test.database.query(`ALTER TABLE ${table} OWNER TO ${owner}`);
        await test.database.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${table} TO ${service}`);
        await test.database.query(`GRANT SELECT ON ${table} TO ${reader}`);
      }
      await test.database.query(`GRANT SELECT ON SEQUENCE call_events_id_seq TO ${reader}`);
      await test.database.query(`GRANT CREATE, USAGE ON SCHEMA public TO ${owner}`);
      await migrate(test.connectionString);
      const address = new URL(test.connectionString);
      Object.assign(address, { username: service, password: 'x' });
      const theirs = openPatientDatabase(String(address), 4);
      try {
        await talk(theirs, callUuid!, 't2');
        const at = Date.now() + 60 * DAY_MS;
        expect((await makeDays(unhurried(theirs), at)).made).toHaveLength(14);
        const part = partitionOf('call_events', at + DAY_MS);
        const [is] = await test.database.query(
          `SELECT pg_get_userbyid(relowner) AS owner, has_table_privilege($2, oid, 'SELECT') AS read, has_table_privilege($2, oid, 'INSERT') AS write,
                  has_sequence_privilege($2, pg_get_serial_sequence('call_events', 'id'), 'SELECT') AS ids FROM pg_class WHERE relname = $1`,
          [part, reader],
        );
        expect(is).toEqual({ owner, read: true, write: false, ids: true });
        expect(await theirs.query('SELECT drop_day($1) AS gone', [part])).toEqual([{ gone: true }]);
        expect(await checkDays(theirs)).toMatchObject([{ level: 'ok' }]);
      } finally {
        await theirs.close();
      }
      Object.assign(address, { username: reader });
      const reading = openPatientDatabase(String(address));
      try {
        await expect(reading.query(`SELECT drop_day('call_events_before')`)).rejects.toMatchObject({ code: '42501' });
        const made = reading.query(`SELECT make_day('call_events', '2031-01-01')`);
        await expect(made).rejects.toMatchObject({ code: '42501' });
      } finally {
        await reading.close();
      }
    } finally {
      await test.database.query(`REASSIGN OWNED BY ${owner} TO CURRENT_USER`);
      for (const role of [owner, service, reader]) {
        await test.database.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
      }
    }
  });
});
