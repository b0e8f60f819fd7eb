/**
 * Drops whole days of events and of turns: a partition in which the purge of the calls has left no row, which is the
 * one thing that is asked, under a lock. What is kept, by kind, agent and hold, is decided call by call, as ever
 * (`call-log-delete.ts`); rows that were written of a call after that are removed here. Called by `retention-purge.ts`
 * after its calls; any node may do it, one at a time. Must not wait: who works with a table goes first.
 */
import type { Logger } from 'pino';
import type { CallPart } from '../calls/call-parts.ts';
import type { Database } from '../store/database.ts';
import { isServerGone } from '../store/database-away.ts';
import { changeDays, GaveWay, holdDays } from '../store/day-changes.ts';
import type { DAY_TABLES } from '../store/day-tables.ts';
import { PLAN_EACH_TIME } from '../store/statements.ts';
import { isHeld } from './legal-holds.ts';
import { type Removed, writeReceipt } from './purge-receipts.ts';
import { DEFAULT_RETENTION_DAYS } from './retention-rules.ts';

/** What lies in each: with the removal of this kind a call has no row left there. */
const KIND_OF: Readonly<Record<(typeof DAY_TABLES)[number], CallPart>> = {
  call_turns: 'transcript',
  call_events: 'events',
};
/** How many of its rows a receipt says to be removed. */
const COUNT_OF = { call_turns: 'turns', call_events: 'events' } as const;
/** A call may be written so long after its id was made; its day is not over before. */
const LATEST_ROW = '1 day';
/** All that write events or turns wait behind whoever waits for their table. */
const LOCK_LIMIT_MS = 200;
/** Calls that one statement looks at: of a day one statement an hour, of the rest, which has many days, more. */
const WINDOW = 500;
const WINDOWS_OF_REST = 20;
/** Before the id of any call. */
const NO_CALL = '00000000-0000-0000-0000-000000000000';

interface Day {
  parent: keyof typeof KIND_OF;
  /** The partition's. */
  name: string;
  /** Of calls of all days; never dropped. */
  isRest: boolean;
}

/** By partition: the call that was looked at last, where the next look goes on. None: it begins anew. */
export type LookedAt = Map<string, string>;

/**
 * Returns the names of the partitions that were dropped; none where another node is at it. A table that is in use and
 * a day that fails are left to the next look; rejects when the database is away.
 */
export async function dropDays(
  deps: { database: Database; log: Logger },
  nowEpochMs: number,
  isOver: () => boolean = () => false,
  lookedAt: LookedAt = new Map(),
): Promise<string[]> {
  const dropped: string[] = [];
  try {
    await holdDays(deps.database, 'look', () => dropEach(deps, nowEpochMs, { isOver, lookedAt, dropped }));
  } finally {
    if (dropped.length > 0) deps.log.info({ days: dropped }, 'days of which nothing is kept were dropped');
  }
  return dropped;
}

async function dropEach(
  { database, log }: { database: Database; log: Logger },
  nowEpochMs: number,
  { isOver, lookedAt, dropped }: { isOver(): boolean; lookedAt: LookedAt; dropped: string[] },
): Promise<void> {
  const now = new Date(nowEpochMs);
  const days = await database.query<Day>(OLD_DAYS, [Object.keys(KIND_OF), Object.values(KIND_OF), now]);
  const busy = new Set<string>();
  for (const day of days) {
    if (isOver()) break;
    try {
      const isEmpty = await removeStrays({ database, now, isOver, lookedAt }, day);
      if (!isEmpty || day.isRest || busy.has(day.parent)) continue;
      const outcome = await drop(database, day);
      if (outcome === true) dropped.push(day.name);
      if (!(outcome instanceof GaveWay)) continue;
      busy.add(day.parent);
      log.info({ day: day.name, why: outcome.why }, 'days that may be dropped wait; the next hour tries again');
    } catch (error) {
      if (isServerGone(error)) throw error;
      // What keeps one day from its removal keeps no other.
      log.warn({ day: day.name, err: error }, 'a day could not be dropped; the next hour tries again');
    }
  }
}

/** False: it has a row. */
function drop(database: Database, { parent, name }: Day): Promise<boolean | GaveWay> {
  return holdDays(database, 'change', () =>
    changeDays(database, { parent, name, lockLimitMs: LOCK_LIMIT_MS }, async (tx) => {
      const [row] = await tx.query<{ isGone: boolean }>('SELECT drop_day($1) AS "isGone"', [name]);
      return row!.isGone;
    }),
  );
}

interface Look {
  database: Database;
  now: Date;
  isOver(): boolean;
  lookedAt: LookedAt;
}

/**
 * Goes through the calls that have rows in it, in the order of their ids, some of them at each look. True: it has been
 * through all of them now, and none has rows left.
 */
async function removeStrays({ database, now, isOver, lookedAt }: Look, day: Day): Promise<boolean> {
  let isEmpty = !lookedAt.has(day.name);
  for (let windows = day.isRest ? WINDOWS_OF_REST : 1; windows > 0; windows--) {
    const after = lookedAt.get(day.name) ?? NO_CALL;
    const calls = await database.query<{ callUuid: string; isStray: boolean }>(walkOf(day), [
      KIND_OF[day.parent],
      now,
      after,
    ]);
    for (const { callUuid, isStray } of calls) {
      if (isOver()) return false;
      if (!isStray || !(await removeStray(database, day, callUuid, now))) isEmpty = false;
    }
    const last = calls.at(-1);
    if (last === undefined || calls.length < WINDOW) {
      lookedAt.delete(day.name);
      return isEmpty;
    }
    lookedAt.set(day.name, last.callUuid);
  }
  return false;
}

/**
 * What was written of a call after its rows had been removed: no purge comes for it again, and it would stay for ever,
 * and its day with it. It has a receipt of its own. False: it stays, held or within its days.
 */
async function removeStray(database: Database, { parent }: Day, callUuid: string, at: Date): Promise<boolean> {
  const kind = KIND_OF[parent];
  return database.transaction(async (tx) => {
    const [call] = await tx.query<{ workspaceId: string; isStray: boolean }>(
      `SELECT c.workspace_id AS "workspaceId", ${IS_STRAY} AS "isStray" FROM calls c WHERE c.call_uuid = $3 FOR UPDATE OF c`,
      [kind, at, callUuid],
    );
    if (call !== undefined && (!call.isStray || (await isHeld(tx, { ...call, callUuid })))) return false;
    const gone = await tx.query(`DELETE FROM ${parent} WHERE call_uuid = $1 RETURNING 1 AS one`, [callUuid]);
    // Of a call that there is not, nobody has to prove anything; and somebody else may have been faster.
    if (call === undefined || gone.length === 0) return true;
    const removed: Removed = { recordings: [], turns: 0, events: 0, webhookBodies: 0 };
    removed[COUNT_OF[parent]] = gone.length;
    await writeReceipt(tx, {
      workspaceId: call.workspaceId,
      callUuid,
      kinds: [kind],
      cause: 'retention',
      actor: 'system:retention',
      removed,
      at,
    });
    return true;
  });
}

/** The rest, and days that were over before the shortest time for which their kind is kept by anybody. */
const OLD_DAYS = `
  SELECT parent, name, to_id IS NULL AS "isRest" FROM day_partitions JOIN unnest($1::text[], $2::text[]) AS asked (parent, kind) USING (parent)
   WHERE to_id IS NULL OR to_id <= first_id_of($3::timestamptz - interval '${LATEST_ROW}' - make_interval(days =>
           least(${DEFAULT_RETENTION_DAYS}, (SELECT min(r.days) FROM retention_rules r WHERE r.kind = asked.kind))))
   ORDER BY to_id, name`;

/** Of the call `c`: all of the kind `$1` was removed before, and the days for which it is kept are over at `$2`. */
const IS_STRAY = `
  coalesce($1::text = ANY (c.purged_kinds) AND c.ended_at <= $2::timestamptz - make_interval(days => coalesce(
    (SELECT r.days FROM retention_rules r WHERE r.workspace_id = c.workspace_id AND r.agent_id = c.agent_id AND r.kind = $1::text),
    (SELECT r.days FROM retention_rules r WHERE r.workspace_id = c.workspace_id AND r.agent_id IS NULL AND r.kind = $1::text),
    ${DEFAULT_RETENTION_DAYS})), false)`;

/** The calls behind `$3` that have rows in it, from one to the next by the key, however many rows each has. */
function walkOf({ name }: Day): string {
  const part = `"${name.replaceAll('"', '""')}"`;
  return `${PLAN_EACH_TIME}
    WITH RECURSIVE seen AS (
      (SELECT call_uuid, 1 AS number FROM ${part} WHERE call_uuid > $3::uuid ORDER BY call_uuid LIMIT 1)
      UNION ALL
      SELECT (SELECT r.call_uuid FROM ${part} r WHERE r.call_uuid > s.call_uuid ORDER BY r.call_uuid LIMIT 1), s.number + 1
        FROM seen s WHERE s.call_uuid IS NOT NULL AND s.number < ${WINDOW})
    SELECT s.call_uuid AS "callUuid",
           coalesce((SELECT ${IS_STRAY} FROM calls c WHERE c.call_uuid = s.call_uuid), true) AS "isStray"
      FROM seen s WHERE s.call_uuid IS NOT NULL ORDER BY s.call_uuid`;
}
