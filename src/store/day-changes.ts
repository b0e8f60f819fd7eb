/**
 * How partitions by day are changed beside a service at work: by one node at a time, in transactions of their own that
 * give way where others would wait for them. Used by `day-maker.ts` and `src/retention/day-removal.ts`.
 */
import type { Database, Queryable } from './database.ts';
import { wasEnded } from './database-away.ts';

/** What nodes do with days one at a time. */
const TASK_LOCKS = { change: 'parley.days', look: 'parley.days.look' } as const;
/** What holds a lock that others wait for is broken off then. */
const STATEMENT_LIMIT_MS = 1_000;
/** So is who stands still between two statements: the whole may be locked until the commit. */
const PAUSE_LIMIT_MS = 2_000;
/** More than PostgreSQL lets an autovacuum go on that is waited for (`deadlock_timeout`, 1 s). */
const VACUUM_LIMIT_MS = 3_000;
/** Of the table, of one partition and of the rest. */
const VACUUMS_LIMIT_MS = 3 * VACUUM_LIMIT_MS + 1_000;
/** Beside running writes; a rest of 100 GB takes no longer. */
const READ_LIMIT_MS = 600_000;
const ANSWER_BEHIND_STATEMENT_MS = 2_000;
/** Networks forget a session that says nothing for minutes, and the lock on days is held for as long as it takes. */
const BEAT_MS = 60_000;
/** A node that stands still with it is put out. */
const HELD_LIMIT_MS = 5 * BEAT_MS;

/** Whatever the database has for a default: what is looked for under a lock has to be seen. */
const READ_COMMITTED = 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED';

/** By SQLSTATE: for the log. */
const WHY: Readonly<Record<string, string>> = {
  '55P03': 'a table is in use',
  '40P01': 'of two that waited for each other it was the one to let go',
  '57014': 'it took longer than it may',
  '42704': 'somebody else was faster',
};

const STOOD_STILL = 'this node stood still in the middle of it';

/** It was not done, and nothing was changed. */
export class GaveWay {
  readonly why: string;
  constructor(why: string) {
    this.why = why;
  }
}

/**
 * Nobody else changes days meanwhile, or looks at their rows; over as many transactions as `work` needs, each of a
 * session of its own. The lock is of a transaction that does nothing else, so it ends with its session, however that
 * ends.
 */
export async function holdDays<Result>(
  database: Database,
  task: keyof typeof TASK_LOCKS,
  work: () => Promise<Result>,
): Promise<Result | GaveWay> {
  return database.transaction(async (tx) => {
    await tx.query(READ_COMMITTED);
    const [row] = await tx.query<{ isMine: boolean }>(
      `SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS "isMine",
              set_config('idle_in_transaction_session_timeout', $2, true)`,
      [TASK_LOCKS[task], `${HELD_LIMIT_MS}ms`],
    );
    if (!row!.isMine) return new GaveWay('another node is at it');
    // Where one fails the lock is gone.
    let failure: unknown = null;
    const beat = setInterval(() => {
      tx.query('SELECT 1').catch((error: unknown) => {
        failure ??= error;
      });
    }, BEAT_MS);
    try {
      const result = await work();
      if (failure !== null) throw failure;
      return result;
    } finally {
      clearInterval(beat);
    }
  });
}

interface DayChange {
  parent: string;
  /** The partition that it is about; default: the rest. */
  name?: string;
  /** Of each lock that others wait behind. */
  lockLimitMs: number;
}

/** Within `holdDays`: a transaction, given up where a table is in use, or where it takes so long that others wait. */
export function changeDays<Result>(
  database: Database,
  { parent, name = `${parent}_rest`, lockLimitMs }: DayChange,
  work: (tx: Queryable) => Promise<Result>,
): Promise<Result | GaveWay> {
  return givingWay(() =>
    database.transaction(async (tx) => {
      await tx.query(READ_COMMITTED);
      await limit(tx, VACUUM_LIMIT_MS, VACUUMS_LIMIT_MS);
      await tx.query('SELECT wait_for_vacuum($1, $2)', [parent, name]);
      await limit(tx, lockLimitMs, STATEMENT_LIMIT_MS);
      return work(tx);
    }),
  );
}

/** Within `holdDays`: a statement that holds up nobody and may take ten minutes; an aborted `signal` breaks it off. */
export function readBeside(
  database: Database,
  statement: { sql: string; parameters: readonly unknown[] },
  signal?: AbortSignal,
): Promise<GaveWay | null> {
  const reading = async (tx: Queryable): Promise<null> => {
    await tx.query(READ_COMMITTED);
    await limit(tx, VACUUM_LIMIT_MS, READ_LIMIT_MS);
    const [own] = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    // What cannot be told to the server ends with its session.
    const stop = (): void => void database.query('SELECT pg_cancel_backend($1)', [own!.pid]).catch(() => {});
    signal?.addEventListener('abort', stop);
    try {
      const read = tx.query(statement.sql, statement.parameters);
      if (signal?.aborted === true) stop();
      await read;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
    return null;
  };
  const options = { answerLimitMs: READ_LIMIT_MS + ANSWER_BEHIND_STATEMENT_MS };
  return givingWay(() => database.transaction(reading, options));
}

async function limit(tx: Queryable, lockMs: number, statementMs: number): Promise<void> {
  await tx.query(
    `SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true),
            set_config('idle_in_transaction_session_timeout', $3, true)`,
    [`${lockMs}ms`, `${statementMs}ms`, `${PAUSE_LIMIT_MS}ms`],
  );
}

async function givingWay<Result>(work: () => Promise<Result>): Promise<Result | GaveWay> {
  try {
    return await work();
  } catch (error) {
    const why = wasEnded(error) ? STOOD_STILL : WHY[String((error as { code?: unknown }).code)];
    if (why === undefined) throw error;
    return new GaveWay(why);
  }
}
