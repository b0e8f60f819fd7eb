/** Events and turns by day: is there a day for tomorrow, is the rest small, and does it take whatever has no day? */
import type { Queryable } from '../store/database.ts';
import { DAY_TABLES } from '../store/day-maker.ts';
import { PLAN_EACH_TIME } from '../store/statements.ts';
import { type CheckResult, ok, warn } from './check.ts';

const NAME = 'days';
/** Of calls whose clock was wrong, or of a day that came late, there are fewer. */
const MANY_ROWS = 10_000;
const MADE =
  "Nothing is lost: such rows lie in the rest, and go one by one. A node says each hour why a day waits (in its log, 'partitions of coming days'): an open transaction, or a database role that may not write the table.";
const READ =
  'They go one by one when they are due. If days are not made any more, the rest takes too long to read: add ?statement_timeout=600000 to DATABASE_URL until they are.';

interface Found {
  days: number;
  hasTomorrow: boolean;
  isFull: boolean;
  refused: string[];
}

export async function checkDays(database: Queryable): Promise<CheckResult[]> {
  const faults: CheckResult[] = [];
  const counts: string[] = [];
  for (const table of DAY_TABLES) {
    const [found] = await database.query<Found>(look(table), [table, MANY_ROWS]);
    const { days, hasTomorrow, isFull, refused } = found!;
    counts.push(`${days} of ${table}`);
    if (!hasTomorrow) faults.push(warn(NAME, `${table} has none for tomorrow`, MADE));
    if (isFull) faults.push(warn(NAME, `${table}_rest has more than ${MANY_ROWS} rows`, READ));
    for (const word of refused) {
      const way = `A node mends it within the hour. Or: ALTER TABLE ${table}_rest DROP CONSTRAINT ${word}`;
      faults.push(warn(NAME, `${table}_rest takes no row of one day (${word}): its making was broken off`, way));
    }
  }
  return faults.length > 0 ? faults : [ok(NAME, `${counts.join(', ')}, tomorrow's among them`)];
}

/** `$1` the table, `$2` how many rows of its rest are looked at. */
const look = (table: (typeof DAY_TABLES)[number]): string => `${PLAN_EACH_TIME}
  WITH parts AS (SELECT from_id, to_id FROM day_partitions WHERE parent = $1 AND to_id IS NOT NULL),
       tomorrow AS (SELECT first_id_of_day((clock_timestamp() AT TIME ZONE 'UTC')::date + 1) AS id)
  SELECT (SELECT count(*)::int FROM parts) AS days,
         EXISTS (SELECT 1 FROM parts, tomorrow WHERE to_id > id AND (from_id IS NULL OR from_id <= id)) AS "hasTomorrow",
         EXISTS (SELECT 1 FROM ${table}_rest OFFSET $2::int) AS "isFull",
         ARRAY(SELECT conname::text FROM pg_constraint WHERE conrelid = to_regclass($1 || '_rest') AND conname ~ '^without_'
                ORDER BY conname) AS refused`;
