/**
 * Removes whole days of events and of turns in place of their rows: a partition of which every call may lose them (its
 * days have passed by its agent's rule, its workspace's, or the default; no hold lives; it is over) is taken out of its
 * table before the purge of the calls, which then writes each one's receipt as ever, and is dropped after it. A day
 * with a single call that keeps something stays, and its calls lose their rows one by one. Called by
 * `retention-purge.ts`; any node may do it, one at a time. Must not wait: who works with a table goes first.
 */
import type { Logger } from 'pino';
import type { CallPart } from '../calls/call-parts.ts';
import type { Database, Queryable } from '../store/database.ts';
import { alone, type DAY_TABLES } from '../store/day-maker.ts';
import { PLAN_EACH_TIME } from '../store/statements.ts';
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

interface Day {
  parent: keyof typeof KIND_OF;
  /** The partition's. */
  name: string;
  /** Null: from the beginning. */
  fromId: string | null;
  toId: string;
}

export interface DayRemoval {
  /** Before the purge. Returns the names of the partitions that are out now. */
  takeOut(nowEpochMs: number): Promise<string[]>;
  /** After the purge. Returns the names of those that were dropped. */
  drop(nowEpochMs: number): Promise<string[]>;
}

/** Neither rejects for a table that is in use or a single day that fails; both do when the database is away. */
export function createDayRemoval({ database, log }: { database: Database; log: Logger }): DayRemoval {
  /** By partition: a call that kept something of it at the last look, so that a day is not gone through each hour. */
  const keepers = new Map<string, string>();

  async function takeOut(nowEpochMs: number): Promise<string[]> {
    const now = new Date(nowEpochMs);
    const days = await database.query<Day>(OLD_DAYS, [Object.keys(KIND_OF), Object.values(KIND_OF), now]);
    const out: string[] = [];
    for (const day of days) {
      const isOut = await ofDay(day, () => takeOutUnlessKept(day, now));
      if (isOut === true) out.push(day.name);
      if (isOut === 'gave_way') log.info({ day: day.name }, 'a day that may be dropped waits: its table is in use');
    }
    return out;
  }

  async function takeOutUnlessKept(day: Day, now: Date): Promise<boolean | 'gave_way'> {
    const kind = KIND_OF[day.parent];
    const known = keepers.get(day.name);
    if (known !== undefined && (await database.query(KEEPER_STILL, [kind, now, known])).length > 0) return false;
    const keeper = await keeperOf(database, day, now);
    if (keeper !== undefined) {
      keepers.set(day.name, keeper);
      return false;
    }
    keepers.delete(day.name);
    return await alone(database, LOCK_LIMIT_MS, async (tx) => {
      await keepAsTheyAre(tx);
      if ((await keeperOf(tx, day, now)) !== undefined) return false;
      await tx.query('INSERT INTO days_taken_out (name, parent, from_id, to_id) VALUES ($1, $2, $3, $4)', [
        day.name,
        day.parent,
        day.fromId,
        day.toId,
      ]);
      // Last: from here to the commit nobody can use the table.
      await tx.query(`ALTER TABLE ${day.parent} DETACH PARTITION ${nameInSql(day.name)}`);
      return true;
    });
  }

  async function drop(nowEpochMs: number): Promise<string[]> {
    const now = new Date(nowEpochMs);
    const days = await database.query<Day>(`SELECT ${COLUMNS} FROM days_taken_out ORDER BY to_id, name`);
    const dropped: string[] = [];
    for (const day of days) {
      const isGone = await ofDay(day, () => alone(database, LOCK_LIMIT_MS, (tx) => dropUnlessOwed(tx, day, now)));
      if (isGone === true) dropped.push(day.name);
    }
    if (dropped.length > 0) log.info({ days: dropped }, 'days of which nothing is kept were dropped');
    return dropped;
  }

  /** What keeps one day from its removal keeps no other. */
  async function ofDay<Outcome>(day: Day, work: () => Promise<Outcome>): Promise<Outcome | 'failed'> {
    try {
      return await work();
    } catch (error) {
      log.warn({ day: day.name, err: error }, 'a day could not be removed as a whole; the next hour tries again');
      return 'failed';
    }
  }

  return { takeOut, drop };
}

/** False: calls of it still have to be purged. */
async function dropUnlessOwed(tx: Queryable, { name, parent, fromId, toId }: Day, now: Date): Promise<boolean> {
  // Whoever counts rows in it is waited for.
  const found = await tx.query('SELECT 1 AS one FROM days_taken_out WHERE name = $1 FOR UPDATE', [name]);
  if (found.length === 0) return false;
  await keepAsTheyAre(tx);
  const table = nameInSql(name);
  const kept = await tx.query<{ callUuid: string }>(ALL_KEEPERS, [KIND_OF[parent], now, fromId, toId]);
  if (kept.length > 0) {
    // Held, or given more days, since it was taken out: they lie in the rest from now on.
    const calls = kept.map(({ callUuid }) => callUuid);
    await tx.query(`INSERT INTO ${parent} SELECT * FROM ${table} WHERE call_uuid = ANY ($1::uuid[])`, [calls]);
    await tx.query(`DELETE FROM ${table} WHERE call_uuid = ANY ($1::uuid[])`, [calls]);
  }
  const owed = await tx.query(OWED, [KIND_OF[parent], fromId, toId, kept.map(({ callUuid }) => callUuid)]);
  if (owed.length > 0) return false;
  await tx.query('DELETE FROM days_taken_out WHERE name = $1', [name]);
  await tx.query(`DROP TABLE ${table}`);
  return true;
}

/**
 * Rows of the call in a day that is out and not dropped yet: they are removed with it, and its receipt tells how many.
 * In the transaction that removes what is left of them.
 */
export async function countTakenOut(tx: Queryable, parent: Day['parent'], callUuid: string): Promise<number> {
  const [day] = await tx.query<{ name: string }>(
    'SELECT name FROM days_taken_out WHERE parent = $1 AND to_id > $2 AND (from_id IS NULL OR from_id <= $2) FOR SHARE',
    [parent, callUuid],
  );
  if (day === undefined) return 0;
  const [row] = await tx.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM ${nameInSql(day.name)} WHERE call_uuid = $1`,
    [callUuid],
  );
  return row!.count;
}

/** No hold is placed and no rule changed until the end of the transaction; one that is under way is waited for. */
async function keepAsTheyAre(tx: Queryable): Promise<void> {
  await tx.query('LOCK TABLE legal_holds, retention_rules IN SHARE MODE');
}

async function keeperOf(db: Queryable, { parent, fromId, toId }: Day, now: Date): Promise<string | undefined> {
  const found = await db.query<{ callUuid: string }>(FIRST_KEEPER, [KIND_OF[parent], now, fromId, toId]);
  return found[0]?.callUuid;
}

/** Of the catalogue. */
function nameInSql(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

const COLUMNS = `parent, name, from_id AS "fromId", to_id AS "toId"`;

/** Days that were over before the shortest time for which their kind is kept by anybody. */
const OLD_DAYS = `
  SELECT ${COLUMNS} FROM day_partitions JOIN unnest($1::text[], $2::text[]) AS asked (parent, kind) USING (parent)
   WHERE to_id <= first_id_of($3::timestamptz - interval '${LATEST_ROW}' - make_interval(days =>
           least(${DEFAULT_RETENTION_DAYS}, (SELECT min(r.days) FROM retention_rules r WHERE r.kind = asked.kind))))
   ORDER BY to_id, name`;

/**
 * Calls that keep what they have of the kind `$1` at `$2`, as the purge of the calls sees it. Those of which it was
 * removed before keep nothing.
 */
const KEEPERS = `
  SELECT c.call_uuid AS "callUuid" FROM calls c
    LEFT JOIN retention_rules a ON a.workspace_id = c.workspace_id AND a.agent_id = c.agent_id AND a.kind = $1
    LEFT JOIN retention_rules w ON w.workspace_id = c.workspace_id AND w.agent_id IS NULL AND w.kind = $1
   WHERE NOT ($1 = ANY (c.purged_kinds))
     AND (c.ended_at IS NULL
          OR c.ended_at > $2::timestamptz - make_interval(days => coalesce(a.days, w.days, ${DEFAULT_RETENTION_DAYS}))
          OR EXISTS (SELECT 1 FROM legal_holds h WHERE h.workspace_id = c.workspace_id
                        AND (h.call_uuid IS NULL OR h.call_uuid = c.call_uuid) AND h.released_at IS NULL))`;
const KEEPER_STILL = `${KEEPERS} AND c.call_uuid = $3`;
const ALL_KEEPERS = `${PLAN_EACH_TIME} ${KEEPERS} AND ($3::uuid IS NULL OR c.call_uuid >= $3) AND c.call_uuid < $4`;
const FIRST_KEEPER = `${ALL_KEEPERS} LIMIT 1`;

/** Calls of a day that were not purged of the kind yet, but for those that keep it (`$4`). */
const OWED = `${PLAN_EACH_TIME}
  SELECT 1 AS one FROM calls c
   WHERE ($2::uuid IS NULL OR c.call_uuid >= $2) AND c.call_uuid < $3 AND NOT ($1 = ANY (c.purged_kinds))
     AND c.call_uuid <> ALL ($4::uuid[]) LIMIT 1`;
