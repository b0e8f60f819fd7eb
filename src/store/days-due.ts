/**
 * The migration that gives events and turns their days lies in several files. Between 0055 and 0058 the two tables take
 * calls of two months alone, also where the version of before goes on with them. Used by `migrate.ts`, which says so.
 */
import type { Queryable } from './database.ts';

/** What kept it from going on, with the date by which it has to; the same where it was not broken off there. */
export async function withDaysDue(session: Queryable, fault: Error): Promise<Error> {
  // The session may be what has failed.
  const day = await dueIn(session).catch(() => null);
  if (day === null) return fault;
  const due = `It has to be done before ${day}, whatever version runs until then: calls from that day on are refused.`;
  const { code } = fault as { code?: unknown };
  return Object.assign(new Error(`${fault.message} ${due}`, { cause: fault }), { code });
}

async function dueIn(session: Queryable): Promise<string | null> {
  // Whoever fails in a transaction has left it open.
  await session.query('ROLLBACK');
  const [row] = await session.query<{ day: string | null }>(DUE);
  return row!.day;
}

/** The first millisecond of the ids that `until_days` refuses. */
const DUE = `
  SELECT to_char(min(to_timestamp(('x' || lpad(replace(substr(id, 1, 13), '-', ''), 16, '0'))::bit(64)::bigint / 1000.0)) AT TIME ZONE 'UTC',
                 'YYYY-MM-DD') AS day
    FROM (SELECT substring(pg_get_constraintdef(oid) FROM '''([0-9a-f-]{36})''') AS id FROM pg_constraint
           WHERE conname = 'until_days' AND conrelid IN (to_regclass('call_turns'), to_regclass('call_events'))) AS said`;
