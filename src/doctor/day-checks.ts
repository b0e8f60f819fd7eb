/** Events and turns by day: is there a day for tomorrow, is the rest small, and does it take whatever has no day? */
import type { Queryable } from '../store/database.ts';
import { DAY_TABLES } from '../store/day-tables.ts';
import { PLAN_EACH_TIME } from '../store/statements.ts';
import { type CheckResult, ok, warn } from './check.ts';

const NAME = 'days';
/** Of calls whose clock was wrong, or of a day that came late, there are fewer. */
const MANY_ROWS = 10_000;
const MADE =
  "Nothing is lost: such rows lie in the rest, and go one by one. A node says each hour why a day waits (in its log, 'partitions of coming days wait'): an open transaction, or a database role that may not write the table.";
const READ =
  "They go one by one when they are due. Before a day is made they are read, beside running writes and for ten minutes at the most: where that is not enough, a node says so in its log ('partitions of coming days wait').";

const MENDED =
  'A node mends it at its next look, within the hour, or, where that table was in use then, a minute later and so on.';

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
      const found = `${table}_rest takes no row of one day (${word}): its making goes on, or was broken off`;
      faults.push(warn(NAME, found, `${MENDED} Or: ALTER TABLE ${table}_rest DROP CONSTRAINT ${word}`));
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
