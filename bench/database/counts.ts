/**
 * What a PostgreSQL was asked and what it cost: its own counters, read when nothing runs. The counters of statements
 * are an extension that has to be loaded at its start, so it is started once more.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Database, openDatabase } from '../../src/store/database.ts';
import type { Service } from '../../src/supervisor/service.ts';
import { processorMs } from './processor-time.ts';

export interface Counts {
  /** As PostgreSQL counts: the start of a session is one too. */
  commits: number;
  /** Begun. */
  sessions: number;
  walBytes: number;
  /** By text: how often, and how long all of them took at the server. Without what only frames a transaction. */
  statements: ReadonlyMap<string, { calls: number; ms: number }>;
}

/** Of one service, in ms. */
export interface ProcessorTime {
  control: number;
  postgres: number;
}

/** What this tool asks is not counted: its statements say so. PostgreSQL forgets a comment before the first word. */
const OWN = '/* bench */';
const STATEMENTS = `
  SELECT ${OWN} query AS text, sum(calls)::int AS calls, sum(total_exec_time)::float8 AS ms FROM pg_stat_statements
   WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND query !~ '/\\* bench \\*/'
     AND query !~* '^(begin|commit|rollback|discard|deallocate)'
   GROUP BY query`;
const COMMITS = `
  SELECT ${OWN} xact_commit::float8 AS commits, sessions::float8, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS "walBytes"
    FROM pg_stat_database WHERE datname = current_database()`;
const SETTLED = `
  SELECT ${OWN} EXISTS (SELECT 1 FROM calls WHERE ended_at IS NULL OR recording_status = 'pending' OR analysis_status = 'pending')
      OR EXISTS (SELECT 1 FROM webhook_deliveries WHERE state = 'pending') AS open`;
/** A session tells of its commits when it has been idle for so long. */
export const SETTLE_MS = 12_000;
const RESTART_LIMIT_MS = 30_000;

export class PostgresCounts {
  readonly #database: Database;
  #ownCommits = 0;

  private constructor(database: Database) {
    this.#database = database;
  }

  /** `restart`: ends the postmaster, which whoever watches it starts again. */
  static async open(connectionString: string, restart: () => void): Promise<PostgresCounts> {
    const connect = (): Database =>
      openDatabase({ connectionString, maxConnections: 1, renewSessionSeconds: 3_600, onIdleError: () => {} });
    const before = connect();
    await before.query(`ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'`);
    await before.query('ALTER SYSTEM SET pg_stat_statements.max = 10000');
    // It commits now and then for reasons of its own.
    await before.query('ALTER SYSTEM SET autovacuum = off');
    await before.close();
    restart();
    for (let waitedMs = 0; ; waitedMs += 500) {
      await pause(500);
      const database = connect();
      try {
        await database.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
        return new PostgresCounts(database);
      } catch (error) {
        await database.close();
        if (waitedMs >= RESTART_LIMIT_MS) throw error;
      }
    }
  }

  async read(): Promise<Counts> {
    const rows = await this.#database.query<{ text: string; calls: number; ms: number }>(STATEMENTS);
    const [row] = await this.#database.query<{ commits: number; sessions: number; walBytes: number }>(COMMITS);
    const counts = {
      commits: row!.commits - this.#ownCommits,
      sessions: row!.sessions,
      walBytes: row!.walBytes,
      statements: new Map(rows.map(({ text, calls, ms }) => [text.replace(/\s+/g, ' ').trim(), { calls, ms }])),
    };
    this.#ownCommits += 2;
    return counts;
  }

  /** Every call is over, its recording stored and its last webhook delivered. */
  async allSettled(): Promise<boolean> {
    const [row] = await this.#database.query<{ open: boolean }>(SETTLED);
    this.#ownCommits += 1;
    return row?.open === false;
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

export function processorTimeOf({ control, postgres }: Service): ProcessorTime {
  return { control: processorMs(control.pid()!), postgres: processorMs(postgres!.pid()!) };
}

export type ByText = Counts['statements'];

export interface Cost {
  commits: number;
  sessions: number;
  statements: number;
  walBytes: number;
  byText: ByText;
}

export function between(before: Counts, after: Counts): Cost {
  const byText = new Map<string, { calls: number; ms: number }>();
  for (const [text, { calls, ms }] of after.statements) {
    const former = before.statements.get(text);
    if (calls > (former?.calls ?? 0)) {
      byText.set(text, { calls: calls - (former?.calls ?? 0), ms: ms - (former?.ms ?? 0) });
    }
  }
  return {
    commits: after.commits - before.commits,
    sessions: after.sessions - before.sessions,
    statements: [...byText.values()].reduce((sum, { calls }) => sum + calls, 0),
    walBytes: after.walBytes - before.walBytes,
    byText,
  };
}
