/**
 * How long a new session at PostgreSQL is waited for. A server that is far, or a machine that is full, takes longer
 * than others; so the address may say it, as libpq reads it: `postgresql://…/parley?connect_timeout=10`, in seconds.
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNECT-CONNECT-TIMEOUT
 */

/** Who asks meanwhile is answered soon that the database is away. */
const CONNECT_LIMIT_MS = 2_000;

/** As for libpq, what is no whole number above 0 says nothing; here that means the default, not for ever. */
export function connectLimitMs(connectionString: string): number {
  const [, seconds] = /[?&]connect_timeout=(\d+)(?:&|$)/.exec(connectionString) ?? [];
  return Number(seconds ?? 0) * 1_000 || CONNECT_LIMIT_MS;
}
