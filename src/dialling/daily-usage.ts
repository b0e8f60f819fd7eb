/**
 * The day's calls and minutes of a workspace and of each of its keys, exact among all nodes: a call is added with the
 * longest that it may become in the transaction that makes it, and what it did not use is given back in the one that
 * ends it. Days are UTC, by the database's clock; a call is of the day on which it began.
 * Counted only while there are ceilings.
 *
 * Whoever changes a day holds its rows until the transaction ends, the workspace's before the key's, and takes them
 * after every call and lead that the transaction locks.
 */
import { ACTIVE } from '../calls/active-statuses.ts';
import { inBatches } from '../store/batches.ts';
import type { Queryable } from '../store/database.ts';
import {
  type DailyCeilings,
  type DayUsage,
  judgeDay,
  LEAST_CALL_SECONDS,
  NOTHING_USED,
  type Reached,
} from './daily-ceilings.ts';

export interface Day {
  beganAt: Date;
  resetsAt: Date;
  /** Rounded up. */
  resetsInSeconds: number;
}

/** What a call holds of its day until it is over. */
export interface Reservation {
  /** Its key, or the one in whose share that key is counted; null: no key asked. */
  countedFor: string | null;
  dayBeganAt: Date;
  seconds: number;
}

export interface DayAsk {
  workspaceId: string;
  /** Null: no key asked. */
  keyId: string | null;
  ceilings: DailyCeilings;
}

/** A ceiling refuses a call. */
export interface DayRefusal {
  reached: Reached;
  day: Day;
  /** The row that is at its ceiling: '' of the workspace, else a key. */
  countedFor: string;
  usage: DayUsage;
}

/** How the day stood, and whose it is. */
export interface DayLook extends DayAsk {
  day: Day;
  countedFor: string | null;
  /** The day is over already. */
  refusal: DayRefusal | null;
}

const WORKSPACE = '';
/** Midnight in UTC, whatever zone the session has. */
const TODAY = `date_trunc('day', clock_timestamp() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'`;
const USAGE = `calls, used_seconds::float8 AS "usedSeconds", reserved_seconds::float8 AS "reservedSeconds"`;

type UsageRow = DayUsage & { countedFor: string };

/** Without a lock, so that a day which is over is told of before anything else is taken. */
export async function lookAtToday(tx: Queryable, ask: DayAsk): Promise<DayLook> {
  const rows = await tx.query<UsageRow & Day & { root: string | null }>(
    `WITH today AS (
       SELECT ${TODAY} AS day, coalesce((SELECT counted_as FROM api_keys WHERE key_id = $2), $2) AS root
     )
     SELECT today.day AS "beganAt", today.day + interval '24 hours' AS "resetsAt",
            ceil(extract(epoch FROM today.day + interval '24 hours' - clock_timestamp()))::int AS "resetsInSeconds",
            today.root, n.name AS "countedFor", coalesce(u.calls, 0) AS calls,
            coalesce(u.used_seconds, 0)::float8 AS "usedSeconds", coalesce(u.reserved_seconds, 0)::float8 AS "reservedSeconds"
     FROM today CROSS JOIN unnest(ARRAY['${WORKSPACE}', today.root]) AS n (name)
     LEFT JOIN dial_usage u ON u.workspace_id = $1 AND u.counted_for = n.name AND u.day = today.day
     WHERE n.name IS NOT NULL`,
    [ask.workspaceId, ask.keyId],
  );
  const { beganAt, resetsAt, resetsInSeconds, root: countedFor } = rows[0]!;
  const day = { beganAt, resetsAt, resetsInSeconds };
  const judged = judge(rows, { ...ask, day, countedFor }, LEAST_CALL_SECONDS);
  const refusal = !judged.ok && judged.refusal.reached.isSpent ? judged.refusal : null;
  return { ...ask, day, countedFor, refusal };
}

/** Shortly before the call's row is written. The seconds are those that the call may last. */
export async function reserve(
  tx: Queryable,
  look: DayLook,
  wantedSeconds: number,
): Promise<{ ok: true; reservation: Reservation } | { ok: false; refusal: DayRefusal }> {
  const { workspaceId, countedFor, day } = look;
  const held = { workspaceId, countedFor, dayBeganAt: day.beganAt };
  const judged = judge(await add(tx, held, NOTHING_USED), look, wantedSeconds);
  if (!judged.ok) return judged;
  const { seconds } = judged;
  await add(tx, held, { calls: 1, usedSeconds: 0, reservedSeconds: seconds });
  return { ok: true, reservation: { countedFor, dayBeganAt: day.beganAt, seconds } };
}

/** The call is over: what it has talked for stays, the rest is free again. Twice is fine. Last in its transaction. */
export async function settleUsage(
  tx: Queryable,
  call: { callUuid: string; workspaceId: string; answeredAt: Date | null; endedAt: Date | null },
): Promise<void> {
  const reservation = await takeReservation(tx, call.callUuid);
  if (reservation === null) return;
  const { answeredAt, endedAt } = call;
  const talkedMs = answeredAt === null || endedAt === null ? 0 : endedAt.getTime() - answeredAt.getTime();
  const usedSeconds = Math.max(0, Math.ceil(talkedMs / 1000));
  const held = { workspaceId: call.workspaceId, ...reservation };
  await add(tx, held, { calls: 0, usedSeconds, reservedSeconds: -reservation.seconds });
}

/** There was no call after all. Before its row goes. */
export async function withdrawUsage(tx: Queryable, call: { callUuid: string; workspaceId: string }): Promise<void> {
  const reservation = await takeReservation(tx, call.callUuid);
  if (reservation === null) return;
  const held = { workspaceId: call.workspaceId, ...reservation };
  await add(tx, held, { calls: -1, usedSeconds: 0, reservedSeconds: -reservation.seconds });
}

/**
 * True once a day for each name: whoever gets it tells of it in the same transaction. `countedFor`: '' for the
 * workspace, else a key.
 */
export async function isFirstToday(
  tx: Queryable,
  of: { workspaceId: string; countedFor: string },
  name: string,
): Promise<boolean> {
  const { workspaceId, countedFor } = of;
  const key = [workspaceId, countedFor, name];
  const told = await tx.query(
    `SELECT 1 AS one FROM dial_usage
     WHERE workspace_id = $1 AND counted_for = $2 AND day = ${TODAY} AND $3 = ANY (told)`,
    key,
  );
  if (told.length > 0) return false;
  const first = await tx.query(
    `INSERT INTO dial_usage AS u (workspace_id, counted_for, day, calls, used_seconds, reserved_seconds, told)
     VALUES ($1, $2, ${TODAY}, 0, 0, 0, ARRAY[$3::text])
     ON CONFLICT (workspace_id, counted_for, day) DO UPDATE SET told = array_append(u.told, $3::text)
       WHERE NOT $3::text = ANY (u.told)
     RETURNING 1 AS one`,
    key,
  );
  return first.length > 0;
}

/** The operator has changed a ceiling: it is told of anew. */
export async function forgetTold(tx: Queryable, workspaceId: string): Promise<void> {
  await holdToday(tx, workspaceId);
  await tx.query(`UPDATE dial_usage SET told = '{}' WHERE workspace_id = $1 AND day = ${TODAY}`, [workspaceId]);
}

/**
 * The first ceiling of a workspace counts what it has called today already; active calls hold
 * their longest from now on.
 */
export async function countToday(tx: Queryable, workspaceId: string): Promise<void> {
  await tx.query(
    `UPDATE calls SET dial_day = ${TODAY}, dial_reserved_seconds = max_duration_seconds,
            dial_key = coalesce((SELECT counted_as FROM api_keys k WHERE k.key_id = dial_key), dial_key)
     WHERE workspace_id = $1 AND channel = 'phone' AND direction = 'outbound' AND status IN ${ACTIVE} AND created_at >= ${TODAY}`,
    [workspaceId],
  );
  await holdToday(tx, workspaceId);
  await tx.query(`DELETE FROM dial_usage WHERE workspace_id = $1 AND day = ${TODAY}`, [workspaceId]);
  await tx.query(
    `INSERT INTO dial_usage (workspace_id, counted_for, day, calls, used_seconds, reserved_seconds)
     SELECT $1::uuid, coalesce(c.counted_for, ''), ${TODAY}, count(*),
            coalesce(sum(ceil(extract(epoch FROM c.ended_at - c.answered_at))), 0), coalesce(sum(c.held), 0)
     FROM (SELECT coalesce(k.counted_as, calls.dial_key) AS counted_for, ended_at, answered_at,
                  CASE WHEN status IN ${ACTIVE} THEN dial_reserved_seconds END AS held
           FROM calls LEFT JOIN api_keys k ON k.key_id = calls.dial_key
           WHERE calls.workspace_id = $1 AND channel = 'phone' AND direction = 'outbound' AND calls.created_at >= ${TODAY}) AS c
     GROUP BY GROUPING SETS ((), (c.counted_for))
     HAVING grouping(c.counted_for) = 1 OR c.counted_for IS NOT NULL`,
    [workspaceId],
  );
}

export interface Today extends DayUsage {
  resetsAt: Date;
  /** Of those that have called today. */
  keys: (DayUsage & { keyId: string })[];
}

export async function readToday(database: Queryable, workspaceId: string): Promise<Today> {
  const [day] = await database.query<{ resetsAt: Date }>(`SELECT ${TODAY} + interval '24 hours' AS "resetsAt"`);
  const rows = await database.query<UsageRow>(
    `SELECT counted_for AS "countedFor", ${USAGE} FROM dial_usage
     WHERE workspace_id = $1 AND day = $2::timestamptz - interval '24 hours' ORDER BY counted_for`,
    [workspaceId, day!.resetsAt],
  );
  const { calls, usedSeconds, reservedSeconds } = usageOf(rows, null).workspace;
  const keys = rows.filter((row) => row.countedFor !== WORKSPACE && row.calls > 0);
  return {
    calls,
    usedSeconds,
    reservedSeconds,
    resetsAt: day!.resetsAt,
    keys: keys.map(({ countedFor: keyId, ...usage }) => ({ keyId, ...usage })),
  };
}

const KEPT_DAYS = 90;
const PURGE_BATCH = 5_000;

export async function purgeDialUsage(database: Queryable, isOver?: () => boolean): Promise<void> {
  const remove = async (limit: number): Promise<number> => {
    const removed = await database.query(
      `DELETE FROM dial_usage WHERE (workspace_id, counted_for, day) IN (
         SELECT workspace_id, counted_for, day FROM dial_usage WHERE day < now() - $2 * interval '1 day'
          ORDER BY day LIMIT $1) RETURNING 1 AS one`,
      [limit, KEPT_DAYS],
    );
    return removed.length;
  };
  await inBatches(PURGE_BATCH, remove, isOver);
}

/** In the order in which everybody takes them. */
async function holdToday(tx: Queryable, workspaceId: string): Promise<void> {
  await tx.query(
    `SELECT 1 FROM dial_usage WHERE workspace_id = $1 AND day = ${TODAY} ORDER BY counted_for FOR UPDATE`,
    [workspaceId],
  );
}

const namesOf = (countedFor: string | null): string[] => [WORKSPACE, ...(countedFor === null ? [] : [countedFor])];

/** Adds to the workspace's row and the key's, and holds both; returns what stands there then. */
function add(
  tx: Queryable,
  held: { workspaceId: string; countedFor: string | null; dayBeganAt: Date },
  { calls, usedSeconds, reservedSeconds }: DayUsage,
): Promise<UsageRow[]> {
  return tx.query<UsageRow>(
    `INSERT INTO dial_usage AS u (workspace_id, counted_for, day, calls, used_seconds, reserved_seconds)
     SELECT $1::uuid, name, $3::timestamptz, $4::int, $5::bigint, $6::bigint FROM unnest($2::text[]) WITH ORDINALITY AS n (name, place) ORDER BY place
     ON CONFLICT (workspace_id, counted_for, day) DO UPDATE
       SET calls = u.calls + excluded.calls, used_seconds = u.used_seconds + excluded.used_seconds,
           reserved_seconds = u.reserved_seconds + excluded.reserved_seconds
     RETURNING counted_for AS "countedFor", ${USAGE}`,
    [held.workspaceId, namesOf(held.countedFor), held.dayBeganAt, calls, usedSeconds, reservedSeconds],
  );
}

/** The call's row is held by whoever asks. */
async function takeReservation(tx: Queryable, callUuid: string): Promise<Reservation | null> {
  const [held] = await tx.query<Reservation>(
    `UPDATE calls AS c SET dial_reserved_seconds = NULL FROM calls AS former
     WHERE c.call_uuid = $1 AND former.call_uuid = c.call_uuid AND former.dial_reserved_seconds IS NOT NULL
     RETURNING former.dial_key AS "countedFor", former.dial_day AS "dayBeganAt", former.dial_reserved_seconds AS seconds`,
    [callUuid],
  );
  return held ?? null;
}

function usageOf(rows: readonly UsageRow[], countedFor: string | null): { workspace: DayUsage; key: DayUsage | null } {
  const of = (name: string): DayUsage => rows.find((row) => row.countedFor === name) ?? NOTHING_USED;
  return { workspace: of(WORKSPACE), key: countedFor === null ? null : of(countedFor) };
}

function judge(
  rows: readonly UsageRow[],
  { ceilings, day, countedFor }: Pick<DayLook, 'ceilings' | 'day' | 'countedFor'>,
  wantedSeconds: number,
): { ok: true; seconds: number } | { ok: false; refusal: DayRefusal } {
  const usage = usageOf(rows, countedFor);
  const judged = judgeDay(ceilings, usage, wantedSeconds);
  if (judged.ok) return judged;
  const { reached } = judged;
  const { workspace, key } = usage;
  const isOfKey = reached.name.startsWith('key_') && countedFor !== null && key !== null;
  const of = isOfKey ? { countedFor, usage: key } : { countedFor: WORKSPACE, usage: workspace };
  return { ok: false, refusal: { reached, day, ...of } };
}
