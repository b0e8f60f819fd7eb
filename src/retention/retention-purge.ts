/**
 * Removes each hour what has been kept long enough, kind by kind, with a receipt for each call. Made and closed by
 * control; any number of nodes may run it, since each removal locks its call. Holds stop it.
 * All kinds of a call are looked at in one pass over the calls that have any left, a window at a time in the order of
 * their ends: each statement reads so many calls and no more, however many there are and however few are due.
 * Days of events and turns in which it has left no row are dropped, and late rows of its calls (`day-removal.ts`).
 * What it does cannot be undone, so it does not trust a wall clock that was just set: time that the monotonic clock
 * does not know of puts off one hour's purge.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import { CALL_PARTS, type CallPart } from '../calls/call-parts.ts';
import type { RecordingEraser } from '../recordings/erase-recordings.ts';
import type { Database } from '../store/database.ts';
import { PLAN_EACH_TIME } from '../store/statements.ts';
import { createSweeper } from '../store/sweeper.ts';
import { type DeleteDeps, deleteCallParts } from './call-log-delete.ts';
import { dropDays, type LookedAt } from './day-removal.ts';
import { DEFAULT_RETENTION_DAYS } from './retention-rules.ts';

export interface RetentionPurge {
  start(): void;
  /**
   * One purge by hand: calls by kind. `only` names the workspace, and how many calls may lose
   * something before it ends with `more`.
   */
  run(only?: { workspaceId: string; mostCalls?: number }): Promise<PurgeReport>;
  readonly figures: Readonly<{ removedParts: number; putOff: number; failed: number }>;
  close(): Promise<void>;
}

export interface PurgeReport {
  /** How many calls lost this kind. */
  removed: Record<CallPart, number>;
  /** Not done because the wall clock was set. */
  putOff: boolean;
  /** It ended with `mostCalls`; what is due still is removed by the next. */
  more: boolean;
}

export interface PurgeDeps extends DeleteDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  eraser: RecordingEraser;
}

const EVERY_MS = 3_600_000;
/** The service has more to do at its start. */
const FIRST_AFTER_MS = 60_000;
const ERASED_SWEEP_MS = 30_000;
const CLOCK_STEP_MS = 300_000;
/** Calls that one statement looks at. */
const WINDOW = 2_000;

interface Place {
  /** As PostgreSQL writes it, to the microsecond. */
  endedAt: string;
  callUuid: string;
}

interface Due {
  callUuid: string;
  workspaceId: string;
  /** In the order of `CALL_PARTS`. */
  kinds: CallPart[];
}

interface Window {
  seen: number;
  last: Place;
  due: Due[];
}

/** Names are qualified: the texts of the answer would sort otherwise than what they are made of. */
const LOOK = `${PLAN_EACH_TIME}
  WITH seen AS MATERIALIZED (
    SELECT c.call_uuid, c.workspace_id, c.agent_id, c.ended_at, c.purged_kinds FROM calls c
     WHERE c.ended_at IS NOT NULL AND cardinality(c.purged_kinds) < ${CALL_PARTS.length}
       AND c.ended_at <= $1::timestamptz - make_interval(days =>
             least(${DEFAULT_RETENTION_DAYS}, (SELECT min(r.days) FROM retention_rules r)))
       AND ($2::uuid IS NULL OR c.workspace_id = $2)
       AND ($3::timestamptz IS NULL OR (c.ended_at, c.call_uuid) > ($3::timestamptz, $4::uuid))
     ORDER BY c.ended_at, c.call_uuid LIMIT ${WINDOW}
  ), due AS (
    SELECT s.call_uuid, s.workspace_id, s.ended_at, array_agg(k.kind ORDER BY k.place) AS kinds
      FROM seen s CROSS JOIN unnest($5::text[]) WITH ORDINALITY AS k (kind, place)
      LEFT JOIN retention_rules a ON a.workspace_id = s.workspace_id AND a.agent_id = s.agent_id AND a.kind = k.kind
      LEFT JOIN retention_rules w ON w.workspace_id = s.workspace_id AND w.agent_id IS NULL AND w.kind = k.kind
     WHERE NOT (k.kind = ANY (s.purged_kinds))
       AND s.ended_at <= $1::timestamptz - make_interval(days => coalesce(a.days, w.days, ${DEFAULT_RETENTION_DAYS}))
       AND NOT EXISTS (SELECT 1 FROM legal_holds h WHERE h.workspace_id = s.workspace_id
                          AND (h.call_uuid IS NULL OR h.call_uuid = s.call_uuid) AND h.released_at IS NULL)
     GROUP BY s.call_uuid, s.workspace_id, s.ended_at
  )
  SELECT (SELECT count(*)::int FROM seen) AS seen,
         jsonb_build_object('endedAt', l.ended_at::text, 'callUuid', l.call_uuid) AS last,
         (SELECT coalesce(jsonb_agg(jsonb_build_object('callUuid', d.call_uuid, 'workspaceId', d.workspace_id, 'kinds', d.kinds)
                                    ORDER BY d.ended_at, d.call_uuid), '[]') FROM due d) AS due
    FROM (SELECT ended_at, call_uuid FROM seen ORDER BY ended_at DESC, call_uuid DESC LIMIT 1) AS l`;

export function createRetentionPurge(deps: PurgeDeps): RetentionPurge {
  const { database, clock, log } = deps;
  const figures = { removedParts: 0, putOff: 0, failed: 0 };
  let clockSetAtMs = Number.NEGATIVE_INFINITY;
  let wallOffsetMs = clock.epochMs() - clock.nowMs();
  const lookedAt: LookedAt = new Map();
  let closed = false;

  async function run(only?: { workspaceId: string; mostCalls?: number }): Promise<PurgeReport> {
    const removed = Object.fromEntries(CALL_PARTS.map((kind) => [kind, 0])) as Record<CallPart, number>;
    if (only === undefined ? noteClock() : isClockStrange()) {
      figures.putOff++;
      log.warn('the wall clock was set; what is due to be removed stays for another hour');
      return { removed, putOff: true, more: false };
    }
    let left = only?.mostCalls ?? Number.POSITIVE_INFINITY;
    let more = false;
    let after: Place | null = null;
    while (!closed && !more) {
      const window: Window | undefined = await look(only?.workspaceId ?? null, after);
      if (window === undefined) break;
      for (const call of window.due) {
        more = left === 0;
        if (closed || more) break;
        let lost = false;
        for (const kind of call.kinds) {
          if (closed || !(await purge(kind, call))) continue;
          removed[kind]++;
          lost = true;
        }
        if (lost) left--;
      }
      if (window.seen < WINDOW) break;
      after = window.last;
    }
    if (only === undefined) await dropDays(deps, clock.epochMs(), () => closed, lookedAt);
    figures.removedParts += Object.values(removed).reduce((sum, calls) => sum + calls, 0);
    return { removed, putOff: false, more };
  }

  /** Asked for by a client: it is put off too, and leaves the hourly purge its own doubt. */
  function isClockStrange(): boolean {
    return wasClockSet() || clock.nowMs() - clockSetAtMs < EVERY_MS;
  }

  function wasClockSet(): boolean {
    return Math.abs(clock.epochMs() - clock.nowMs() - wallOffsetMs) > CLOCK_STEP_MS;
  }

  /** True once after the wall clock was set. */
  function noteClock(): boolean {
    const wasSet = wasClockSet();
    wallOffsetMs = clock.epochMs() - clock.nowMs();
    if (wasSet) clockSetAtMs = clock.nowMs();
    return wasSet;
  }

  /** Undefined: there are no more. */
  async function look(workspaceId: string | null, after: Place | null): Promise<Window | undefined> {
    const now = new Date(clock.epochMs());
    const parameters = [now, workspaceId, after?.endedAt ?? null, after?.callUuid ?? null, CALL_PARTS];
    return (await database.query<Window>(LOOK, parameters))[0];
  }

  async function purge(kind: CallPart, { callUuid, workspaceId }: Due): Promise<boolean> {
    try {
      const request = {
        callUuid,
        workspaceId,
        parts: [kind],
        by: { actor: 'system:retention' as const },
        cause: 'retention' as const,
      };
      return (await deleteCallParts(deps, request)) === 'deleted';
    } catch (error) {
      figures.failed++;
      log.warn({ callUuid, kind, err: error }, 'what has been kept long enough could not be removed');
      return false;
    }
  }

  const hourly = createSweeper({
    clock,
    everyMs: EVERY_MS,
    sweep: () => run(),
    failed: (err) => log.warn({ err }, 'the hourly purge failed'),
  });
  const erased = createSweeper({
    clock,
    everyMs: ERASED_SWEEP_MS,
    sweep: () => deps.eraser.sweep(),
    failed: (err) => log.warn({ err }, 'erased recordings wait'),
  });
  return {
    figures,
    run,
    start() {
      hourly.start(FIRST_AFTER_MS);
      erased.start(ERASED_SWEEP_MS);
    },
    async close() {
      closed = true;
      await Promise.all([hourly.close(), erased.close()]);
    },
  };
}
