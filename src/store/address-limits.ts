/**
 * How long PostgreSQL is waited for. A server that is far or large, or a machine that is full, takes longer than
 * others; so its address may say it: `postgresql://…/parley?connect_timeout=10&statement_timeout=30000`. A new session
 * in seconds, as libpq reads it, a statement in milliseconds, as the server and pg do.
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNECT-CONNECT-TIMEOUT
 * https://www.postgresql.org/docs/current/runtime-config-client.html#GUC-STATEMENT-TIMEOUT
 */

/** Who asks meanwhile is answered soon that the database is away. */
const CONNECT_LIMIT_MS = 2_000;
const STATEMENT_LIMIT_MS = 10_000;
/** A server that stands still, or whose machine is gone, ends no statement by itself. */
const ANSWER_BEHIND_STATEMENT_MS = 2_000;

/**
 * Of a transaction that says nothing, in ms: the server ends its session then. A node whose cable is pulled in the
 * middle of one leaves the rows locked, and its calls go on elsewhere only when nobody has them: less than its lease.
 * What a transaction waits for between two statements must take less: a placement waits for its limits (`admit`).
 * https://www.postgresql.org/docs/current/runtime-config-client.html#GUC-IDLE-IN-TRANSACTION-SESSION-TIMEOUT
 */
export const PAUSE_LIMIT_MS = 5_000;

export interface DatabaseLimits {
  connectMs: number;
  /** The server ends it then. */
  statementMs: number;
  /** After it the server is taken for gone. */
  answerMs: number;
}

/** What is no whole number above 0 says nothing: the default then, not for ever. */
export function limitsIn(connectionString: string): DatabaseLimits {
  const statementMs = numberIn(connectionString, 'statement_timeout') || STATEMENT_LIMIT_MS;
  return {
    connectMs: numberIn(connectionString, 'connect_timeout') * 1_000 || CONNECT_LIMIT_MS,
    statementMs,
    answerMs: statementMs + ANSWER_BEHIND_STATEMENT_MS,
  };
}

function numberIn(connectionString: string, name: string): number {
  return Number(new RegExp(`[?&]${name}=(\\d+)(?:&|$)`).exec(connectionString)?.[1] ?? 0);
}
