/**
 * Whoever makes or drops days (`src/store/day-changes.ts`) gives way where a statement takes a second or its process
 * stands still for two, and the next hour tries again. A busy machine has both, so a test that counts days gives them
 * longer.
 */
import { PATIENCE_MS } from '../../bench/harness/patience.ts';
import type { Database, Queryable } from '../../src/store/database.ts';

const LIMIT = /set_config\('(lock_timeout|statement_timeout|idle_in_transaction_session_timeout)', \$(\d+)/g;
const CHANGE = /\b(?:make_day|drop_day|rest_without)\(/;
/** Shorter ones are of locks that others wait behind: they stay, and are met where a test holds such a lock alone. */
const WAIT_FOR_VACUUM_MS = 3_000;

/**
 * The same database. `kept`: what a test is about stays as the service has it, and so does how long a statement may
 * take that has been given a longer answer: minutes.
 */
export function unhurried(
  database: Database,
  kept?: 'statement_timeout' | 'idle_in_transaction_session_timeout',
): Database {
  const within = (tx: Queryable, isLong: boolean): Queryable => {
    let isLonger = false;
    return {
      query(sql, parameters = []) {
        if (CHANGE.test(sql) && !isLonger) throw new Error(`Without the limits that are known here: ${sql}`);
        const given = [...parameters];
        for (const [, name, place] of sql.matchAll(LIMIT)) {
          if (name === 'lock_timeout') isLonger = true;
          const ms = Number.parseInt(String(given[Number(place) - 1]), 10);
          const stays =
            name === kept ||
            (name === 'lock_timeout' && ms < WAIT_FOR_VACUUM_MS) ||
            (name === 'statement_timeout' && isLong);
          if (!stays) given[Number(place) - 1] = `${Math.max(ms, PATIENCE_MS)}ms`;
        }
        return tx.query(sql, given);
      },
    };
  };
  return {
    ...database,
    transaction: (work, options) =>
      database.transaction((tx) => work(within(tx, options?.answerLimitMs !== undefined)), options),
  };
}
