/**
 * The migration that gives events and turns their days lies in several files. Between 0055 and 0058 the two tables take
 * calls of two months alone, also where the version of before goes on with them. Used by `migrate.ts`, which says so.
 */
import type { Queryable } from './database.ts';

/** A sentence for who migrates; empty where the migration was not broken off there. */
export async function daysDue(database: Queryable): Promise<string> {
  const [row] = await database.query<{ day: string | null }>(DUE);
  return row?.day == null
    ? ''
    : ` It has to be done before ${row.day}, whatever version runs until then: calls from that day on are refused.`;
}

/** The first millisecond of the ids that `until_days` refuses. */
const DUE = `
  SELECT to_char(min(to_timestamp(('x' || lpad(replace(substr(id, 1, 13), '-', ''), 16, '0'))::bit(64)::bigint / 1000.0)) AT TIME ZONE 'UTC',
                 'YYYY-MM-DD') AS day
    FROM (SELECT substring(pg_get_constraintdef(oid) FROM '''([0-9a-f-]{36})''') AS id FROM pg_constraint
           WHERE conname = 'until_days' AND conrelid IN (to_regclass('call_turns'), to_regclass('call_events'))) AS said`;
