/**
 * Brings a database to the newest schema: plain SQL files, in order, once, each in a transaction of its own. Nobody
 * waits long for it: a statement that does not get its lock in time gives way and is tried again, so that the requests
 * behind it go on.
 */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { limitsIn } from './address-limits.ts';
import { type Database, openDatabase, type Queryable } from './database.ts';
import { withDaysDue } from './days-due.ts';
import { concurrentIndexOf, contractedAway, knownMigrations, migrationsFolder, upOf } from './migration-files.ts';

export interface Migrated {
  /** What was run now, in order. */
  done: string[];
  /** How often a lock was not had in time. */
  gaveWay: number;
  /** What a newer version has run, which this one does not know and does without. */
  newer: string[];
}

export interface MigrateOptions {
  /** Of each statement; default 2 s. */
  lockLimitMs?: number;
  /** For locks, and for another node that migrates; default 10 min. */
  giveUpAfterMs?: number;
  /** A line for people. */
  say?(line: string): void;
  /** For tests. */
  folder?: string;
}

const MIGRATIONS_TABLE = 'migrations';
const UNDEFINED_TABLE = '42P01';
const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK = '40P01';
/** The library's own, so that versions that let it lock wait for this one. */
const LOCK_ID = '7241865325823964';
const LOCK_LIMIT_MS = 2_000;
const GIVE_UP_AFTER_MS = 600_000;
const LOCK_LOOK_MS = 250;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8_000;

/**
 * Rejects as the database does when it is away; with a sentence when a lock is not to be had, or the database was made
 * for later versions alone. A database that has them all is asked once, and the library that runs them not read.
 */
export async function migrate(connectionString: string, options: MigrateOptions = {}): Promise<Migrated> {
  const { folder = migrationsFolder() } = options;
  const known = knownMigrations(folder);
  const { missing, newer } = await compare(connectionString, known);
  const gone = contractedAway(newer, known);
  if (gone.length > 0) {
    throw new Error(
      `A later version of Parley has taken away from the database what this one needs (${gone.join(', ')}). Run that version, or the one before it; the database only moves forward.`,
    );
  }
  if (missing.length === 0) return { done: [], gaveWay: 0, newer };
  const untilMs = performance.now() + (options.giveUpAfterMs ?? GIVE_UP_AFTER_MS);
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: limitsIn(connectionString).connectMs,
    keepAlive: true,
    lock_timeout: options.lockLimitMs ?? LOCK_LIMIT_MS,
  });
  // Its death is told by the statement that fails.
  client.on('error', () => {});
  try {
    await client.connect();
    // A statement may take as long as it needs; only for locks it does not wait.
    await client.query('SET statement_timeout = 0');
    // What is looked for under a lock has to be seen, whatever is set for the database.
    await client.query(`SET default_transaction_isolation = 'read committed'`);
    await takeLock(client, untilMs, options.say);
    const ran = await runAll({ client, folder, untilMs, say: options.say ?? (() => {}) }).catch(
      async (error: Error) => {
        throw await withDaysDue(sessionOf(client), error);
      },
    );
    return { ...ran, newer };
  } finally {
    await client.end().catch(() => {});
  }
}

/** Tried again and again: whoever waits inside a statement is waited for by an index that is made beside it. */
async function takeLock(client: pg.Client, untilMs: number, say: MigrateOptions['say']): Promise<void> {
  for (let isFirst = true; ; isFirst = false, await wait(LOCK_LOOK_MS)) {
    const { rows } = await client.query<{ isMine: boolean }>(`SELECT pg_try_advisory_lock(${LOCK_ID}) AS "isMine"`);
    if (rows[0]?.isMine === true) return;
    if (isFirst) say?.('another process migrates this database; waiting for it');
    if (performance.now() > untilMs) {
      throw new Error(
        `Another process has been migrating this database for too long: ${await migratorIn(client)}. Look what it does, or end it by SELECT pg_terminate_backend(pid), and migrate again.`,
      );
    }
  }
}

/** Whose session has the lock: a process that was killed may have left a statement that goes on. */
async function migratorIn(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ pid: number; name: string; state: string }>(
    `SELECT pid, application_name AS name, state FROM pg_locks JOIN pg_stat_activity USING (pid)
      WHERE locktype = 'advisory' AND granted AND datname = current_database()
        AND (classid::bigint << 32) + objid::bigint = ${LOCK_ID}`,
  );
  return (
    rows.map(({ pid, name, state }) => `session ${pid} (${name || 'no name'}, ${state})`).join() || 'it has ended now'
  );
}

const sessionOf = (client: pg.Client): Queryable => ({
  query: async <Row extends object>(sql: string) => (await client.query<Row>(sql)).rows,
});

async function runAll(options: {
  client: pg.Client;
  folder: string;
  untilMs: number;
  say(line: string): void;
}): Promise<Omit<Migrated, 'newer'>> {
  const { client, folder, say } = options;
  const { runner } = await import('node-pg-migrate');
  const session = sessionOf(client);
  const before = await ranOf(session);
  for (let gaveWay = 0, pauseMs = FIRST_PAUSE_MS; ; gaveWay++, pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      await dropHalfMade(client, folder);
      await runner({
        dbClient: client,
        dir: folder,
        direction: 'up',
        migrationsTable: MIGRATIONS_TABLE,
        count: Number.POSITIVE_INFINITY,
        // Branches that merge late have earlier numbers: what is missing is run, in order.
        checkOrder: false,
        singleTransaction: false,
        noLock: true,
        migrationLoaderStrategies: [{ extensions: ['.sql'], loader: loadFiles }],
        log: () => {},
      });
      const after = await ranOf(session);
      return { done: [...after].filter((name) => !before.has(name)), gaveWay };
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code !== LOCK_NOT_AVAILABLE && code !== DEADLOCK) throw error;
      await client.query('ROLLBACK');
      if (performance.now() + pauseMs > options.untilMs) throw await lockFault(client);
      if (gaveWay === 0) say('a table is in use by somebody else; giving way and trying again');
      await wait(pauseMs);
    }
  }
}

type Loader = Exclude<
  NonNullable<Parameters<typeof import('node-pg-migrate').runner>[0]['migrationLoaderStrategies']>[number]['loader'],
  string
>;

const loadFiles: Loader = async (paths) =>
  paths.map((path) => ({
    id: path,
    filePaths: [path],
    actions: {
      up(pgm) {
        if (concurrentIndexOf(path) === null) {
          pgm.sql(upOf(path));
          return;
        }
        pgm.noTransaction();
        // Nobody waits behind it, and it waits for every older transaction.
        pgm.sql('SET lock_timeout = 0');
        pgm.sql(upOf(path));
        pgm.sql('RESET lock_timeout');
      },
      down: false,
    },
  }));

/** An index that was being made beside running writes when its process died is there, and of no use. */
async function dropHalfMade(client: pg.Client, folder: string): Promise<void> {
  const names = knownMigrations(folder).flatMap((name) => concurrentIndexOf(join(folder, `${name}.sql`)) ?? []);
  if (names.length === 0) return;
  const { rows } = await client.query<{ name: string }>(
    'SELECT indexrelid::regclass::text AS name FROM pg_index WHERE NOT indisvalid AND indexrelid::regclass::text = ANY($1)',
    [names],
  );
  for (const { name } of rows) await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
}

async function lockFault(client: pg.Client): Promise<Error> {
  const { rows } = await client.query<{ pid: number; name: string; seconds: number; state: string }>(
    `SELECT pid, application_name AS name, state, round(extract(epoch FROM clock_timestamp() - xact_start))::int AS seconds
     FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
     ORDER BY xact_start LIMIT 3`,
  );
  const open = rows.map(({ pid, name, seconds, state }) => `${pid} (${name || 'no name'}, ${state}, ${seconds} s)`);
  return new Error(
    `A table that is to be changed was in use all the time. The oldest open transactions are of the sessions ${open.join(', ') || '(none any more)'}: wait for them, or end one by SELECT pg_terminate_backend(pid), and migrate again; what was done so far stays.`,
  );
}

async function compare(connectionString: string, known: string[]): Promise<{ missing: string[]; newer: string[] }> {
  const database: Database = openDatabase({ connectionString, maxConnections: 1, onIdleError: () => {} });
  try {
    const run = await ranOf(database);
    return {
      missing: known.filter((name) => !run.has(name)),
      newer: [...run].filter((name) => !known.includes(name)),
    };
  } finally {
    await database.close();
  }
}

/** In order; empty where there is no table of them yet. */
async function ranOf(database: Queryable): Promise<Set<string>> {
  try {
    const rows = await database.query<{ name: string }>(`SELECT name FROM ${MIGRATIONS_TABLE} ORDER BY id`);
    return new Set(rows.map(({ name }) => name));
  } catch (error) {
    if ((error as { code?: unknown }).code === UNDEFINED_TABLE) return new Set();
    throw error;
  }
}
