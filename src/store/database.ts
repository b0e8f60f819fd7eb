/**
 * Statements and transactions at PostgreSQL, over a pool of sessions (`server-sessions.ts`), and a lock that lasts as
 * long as its session. What becomes of the server is told by a statement that fails, never by a process that ends.
 */
import pg from 'pg';
import { limitsIn, PAUSE_LIMIT_MS } from './address-limits.ts';
import { beginTelling } from './after-commit.ts';
import { isUnanswered } from './database-away.ts';
import { createServerSessions, openSessionPool, type ServerSessions } from './server-sessions.ts';
import { createStatements } from './statements.ts';

export interface Queryable {
  /** Rows of one statement; parameters are `$1`, `$2`, …. A text that comes again is prepared once a connection. */
  query<Row extends object>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
}

export interface Database extends Queryable {
  /** Runs `work` between BEGIN and COMMIT; a throw rolls back and is passed on. */
  transaction<Result>(work: (tx: Queryable) => Promise<Result>, options?: TransactionOptions): Promise<Result>;
  close(): Promise<void>;
}

interface TransactionOptions {
  /** The server is taken for gone where a statement has no answer for so long; default: as the address says. */
  answerLimitMs?: number;
}

export interface DatabaseOptions {
  connectionString: string;
  maxConnections?: number;
  /** Of all pools of a process at this server, so that they let go together. Default: of this one alone. */
  sessions?: ServerSessions;
  /** For tests; default: as the address says (`address-limits.ts`). */
  answerLimitMs?: number;
  /** For tests; see `PAUSE_LIMIT_MS`. */
  pauseLimitMs?: number;
  /** For tests; default 60 s. */
  renewSessionSeconds?: number;
  /** Told once for each idle connection that the server dropped; the pool makes new ones by itself. */
  onIdleError(error: Error): void;
}

export function openDatabase(options: DatabaseOptions): Database {
  const { sessions = createServerSessions(), renewSessionSeconds: renewSeconds } = options;
  const limits = limitsIn(options.connectionString);
  const { pool, release, close } = openSessionPool({
    config: {
      connectionString: options.connectionString,
      max: options.maxConnections ?? 10,
      connectionTimeoutMillis: limits.connectMs,
      statement_timeout: limits.statementMs,
      idle_in_transaction_session_timeout: options.pauseLimitMs ?? PAUSE_LIMIT_MS,
      query_timeout: options.answerLimitMs ?? limits.answerMs,
      keepAlive: true,
    },
    sessions,
    inUse: 'finish',
    onIdleError: options.onIdleError,
    ...(renewSeconds === undefined ? {} : { renewSeconds }),
  });
  const statements = createStatements();
  // A connection in use reports its death by its own event too, and can do so in the same turn in which the pool hands
  // it over, before whoever asked for it could listen. The failed query is what counts.
  pool.on('connect', (client) => client.on('error', () => {}));

  const ask = async <Row extends object>(
    client: pg.PoolClient,
    sql: string,
    parameters: readonly unknown[] = [],
    answerLimitMs?: number,
  ): Promise<Row[]> => {
    const statement = statements.of(sql, parameters);
    if (answerLimitMs !== undefined) statement.query_timeout = answerLimitMs;
    return (await client.query<Row>(statement)).rows;
  };

  return {
    async query<Row extends object>(sql: string, parameters?: readonly unknown[]): Promise<Row[]> {
      const client = await pool.connect();
      // One that failed is not used again: its plans may be what failed.
      let broken = true;
      try {
        const rows = await ask<Row>(client, sql, parameters);
        broken = false;
        return rows;
      } finally {
        release(client, broken);
      }
    },
    async transaction(work, { answerLimitMs } = {}) {
      const client = await pool.connect();
      let broken = false;
      try {
        await client.query('BEGIN');
        const tx: Queryable = { query: (sql, parameters) => ask(client, sql, parameters, answerLimitMs) };
        const tell = beginTelling(tx);
        const result = await work(tx);
        await client.query('COMMIT');
        tell();
        return result;
      } catch (error) {
        if (isUnanswered(error)) broken = true;
        else {
          await client.query('ROLLBACK').catch(() => {
            broken = true;
          });
        }
        throw error;
      } finally {
        release(client, broken);
      }
    },
    close,
  };
}

/** Held as long as the connection is: whoever is killed lets go of it. */
export interface SessionLock {
  release(): Promise<void>;
}

/** Null: another session holds it. */
export async function trySessionLock(connectionString: string, name: string): Promise<SessionLock | null> {
  const limits = limitsIn(connectionString);
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: limits.connectMs,
    query_timeout: limits.answerMs,
    keepAlive: true,
  });
  client.on('error', () => {});
  const release = (): Promise<void> => client.end();
  try {
    await client.connect();
    const { rows } = await client.query<{ isMine: boolean }>(
      'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS "isMine"',
      [name],
    );
    if (rows[0]?.isMine === true) return { release };
  } catch (error) {
    await release().catch(() => {});
    throw error;
  }
  await release();
  return null;
}
