/**
 * Drops whole days of events and of turns: a partition in which the purge of the calls has left no row, which is the
 * one thing that is asked, under a lock. What is kept, by kind, agent and hold, is decided call by call, as ever
 * (`call-log-delete.ts`). Called by `retention-purge.ts` after its calls; any node may do it, one at a time. Must not
 * wait: who works with a table goes first.
 */
import type { Logger } from 'pino';
import type { CallPart } from '../calls/call-parts.ts';
import type { Database } from '../store/database.ts';
import { alone, type DAY_TABLES } from '../store/day-maker.ts';
import { PLAN_EACH_TIME } from '../store/statements.ts';
import { isHeld } from './legal-holds.ts';
import { DEFAULT_RETENTION_DAYS } from './retention-rules.ts';

/** What lies in each: with the removal of this kind a call has no row left there. */
const KIND_OF: Readonly<Record<(typeof DAY_TABLES)[number], CallPart>> = {
  call_turns: 'transcript',
  call_events: 'events',
};
/** A call may be written so long after its id was made; its day is not over before. */
const LATEST_ROW = '1 day';
/** All that write events or turns wait behind whoever waits for their table. */
const LOCK_LIMIT_MS = 200;
/** Of a day at one look. */
const MOST_STRAYS = 1_000;

interface Day {
  parent: keyof typeof KIND_OF;
  /** The partition's. */
  name: string;
}

/**
 * Returns the names of the partitions that were dropped. A table that is in use and a day that fails are left to the
 * next look; rejects when the database is away.
 */
export async function dropDays(
  { database, log }: { database: Database; log: Logger },
  nowEpochMs: number,
  isOver: () => boolean = () => false,
): Promise<string[]> {
  const days = await database.query<Day>(OLD_DAYS, [
    Object.keys(KIND_OF),
    Object.values(KIND_OF),
    new Date(nowEpochMs),
  ]);
  const dropped: string[] = [];
  const busy = new Set<string>();
  for (const day of days) {
    if (isOver()) break;
    if (busy.has(day.parent)) continue;
    const outcome = await dropIfEmpty(database, day).catch((error: unknown) => {
      // What keeps one day from its removal keeps no other.
      log.warn({ day: day.name, err: error }, 'a day could not be dropped; the next hour tries again');
    });
    if (outcome === 'dropped') dropped.push(day.name);
    if (outcome !== 'gave_way') continue;
    busy.add(day.parent);
    log.info({ day: day.name }, 'days that may be dropped wait: their table is in use');
  }
  if (dropped.length > 0) log.info({ days: dropped }, 'days of which nothing is kept were dropped');
  return dropped;
}

async function dropIfEmpty(database: Database, day: Day): Promise<'dropped' | 'kept' | 'gave_way'> {
  for (let strays = 0; ; strays++) {
    const [first] = await database.query<{ callUuid: string; isStray: boolean }>(firstCall(day), [KIND_OF[day.parent]]);
    if (first === undefined) break;
    if (!first.isStray || strays === MOST_STRAYS || !(await removeStray(database, day, first.callUuid))) return 'kept';
  }
  return alone(database, LOCK_LIMIT_MS, async (tx) => {
    const [row] = await tx.query<{ isGone: boolean }>('SELECT drop_day($1) AS "isGone"', [day.name]);
    return row!.isGone ? 'dropped' : 'kept';
  });
}

/**
 * What was written of a call after its rows had been removed: no purge comes for it again, and it would keep its day
 * for ever. False: it stays, for a hold that lives or because somebody else was faster.
 */
async function removeStray(database: Database, { parent }: Day, callUuid: string): Promise<boolean> {
  return database.transaction(async (tx) => {
    const [call] = await tx.query<{ workspaceId: string; isPurged: boolean }>(
      `SELECT workspace_id AS "workspaceId", $2 = ANY (purged_kinds) AS "isPurged" FROM calls WHERE call_uuid = $1 FOR UPDATE`,
      [callUuid, KIND_OF[parent]],
    );
    if (call !== undefined && (!call.isPurged || (await isHeld(tx, { ...call, callUuid })))) return false;
    await tx.query(`DELETE FROM ${parent} WHERE call_uuid = $1`, [callUuid]);
    return true;
  });
}

/** Days that were over before the shortest time for which their kind is kept by anybody. */
const OLD_DAYS = `
  SELECT parent, name FROM day_partitions JOIN unnest($1::text[], $2::text[]) AS asked (parent, kind) USING (parent)
   WHERE to_id <= first_id_of($3::timestamptz - interval '${LATEST_ROW}' - make_interval(days =>
           least(${DEFAULT_RETENTION_DAYS}, (SELECT min(r.days) FROM retention_rules r WHERE r.kind = asked.kind))))
   ORDER BY to_id, name`;

/** The first call that has a row in it, by the key; `$1`, the kind: whether all of that was removed before. */
function firstCall({ name }: Day): string {
  return `${PLAN_EACH_TIME}
    SELECT r.call_uuid AS "callUuid", coalesce($1 = ANY (c.purged_kinds), true) AS "isStray"
      FROM (SELECT call_uuid FROM "${name.replaceAll('"', '""')}" ORDER BY call_uuid LIMIT 1) AS r
      LEFT JOIN calls c ON c.call_uuid = r.call_uuid`;
}
