/**
 * Removes each hour what has been kept long enough, kind by kind, with a receipt for each call. Made and closed by control; any number of
 * nodes may run it, since each removal locks its call. Holds stop it.
 * What it does cannot be undone, so it does not trust a wall clock that was just set: time that the monotonic clock does not know of puts
 * off one hour's purge.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import { type DeleteDeps, deleteCallParts } from '../calls/call-log-delete.ts';
import { CALL_PARTS, type CallPart } from '../calls/call-parts.ts';
import type { RecordingEraser } from '../recordings/erase-recordings.ts';
import type { Database } from '../store/database.ts';
import { DEFAULT_RETENTION_DAYS } from './retention-rules.ts';

export interface RetentionPurge {
  start(): void;
  /** One purge by hand: calls by kind. `only` names the workspace. */
  run(only?: { workspaceId: string }): Promise<PurgeReport>;
  readonly figures: Readonly<{ removedParts: number; putOff: number; failed: number }>;
  close(): Promise<void>;
}

export interface PurgeReport {
  /** How many calls lost this kind. */
  removed: Record<CallPart, number>;
  /** Not done because the wall clock was set. */
  putOff: boolean;
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
const BATCH = 100;

export function createRetentionPurge(deps: PurgeDeps): RetentionPurge {
  const { database, clock, log } = deps;
  const figures = { removedParts: 0, putOff: 0, failed: 0 };
  let wallOffsetMs = clock.epochMs() - clock.nowMs();
  let running: Promise<unknown> = Promise.resolve();
  let cancelRun = (): void => {};
  let cancelSweep = (): void => {};
  let closed = false;

  async function run(only?: { workspaceId: string }): Promise<PurgeReport> {
    const removed = Object.fromEntries(CALL_PARTS.map((kind) => [kind, 0])) as Record<CallPart, number>;
    if (wasClockSet()) {
      figures.putOff++;
      log.warn('the wall clock was set; what is due to be removed stays for another hour');
      return { removed, putOff: true };
    }
    for (const kind of CALL_PARTS) removed[kind] = await purgeKind(kind, only?.workspaceId ?? null);
    return { removed, putOff: false };
  }

  function wasClockSet(): boolean {
    const offsetMs = clock.epochMs() - clock.nowMs();
    const byMs = offsetMs - wallOffsetMs;
    wallOffsetMs = offsetMs;
    return Math.abs(byMs) > CLOCK_STEP_MS;
  }

  async function purgeKind(kind: CallPart, workspaceId: string | null): Promise<number> {
    let done = 0;
    let after: string | null = null;
    while (!closed) {
      const due: { callUuid: string; workspaceId: string }[] = await dueCalls(kind, workspaceId, after);
      for (const call of due) if (await purge(kind, call)) done++;
      after = due.at(-1)?.callUuid ?? null;
      if (due.length < BATCH) break;
    }
    figures.removedParts += done;
    return done;
  }

  function dueCalls(
    kind: CallPart,
    workspaceId: string | null,
    after: string | null,
  ): Promise<{ callUuid: string; workspaceId: string }[]> {
    return database.query(
      `SELECT c.call_uuid AS "callUuid", c.workspace_id AS "workspaceId"
         FROM calls c
         LEFT JOIN retention_rules a ON a.workspace_id = c.workspace_id AND a.agent_id = c.agent_id AND a.kind = $1
         LEFT JOIN retention_rules w ON w.workspace_id = c.workspace_id AND w.agent_id IS NULL AND w.kind = $1
        WHERE c.ended_at <= $2::timestamptz - make_interval(days => coalesce(a.days, w.days, ${DEFAULT_RETENTION_DAYS}))
          AND c.ended_at IS NOT NULL AND cardinality(c.purged_kinds) < 5 AND NOT ($1 = ANY (c.purged_kinds))
          AND ($3::uuid IS NULL OR c.workspace_id = $3) AND ($4::uuid IS NULL OR c.call_uuid > $4)
          AND NOT EXISTS (SELECT 1 FROM legal_holds h WHERE h.workspace_id = c.workspace_id
                             AND (h.call_uuid IS NULL OR h.call_uuid = c.call_uuid) AND h.released_at IS NULL)
        ORDER BY c.call_uuid LIMIT ${BATCH}`,
      [kind, new Date(clock.epochMs()), workspaceId, after],
    );
  }

  async function purge(kind: CallPart, call: { callUuid: string; workspaceId: string }): Promise<boolean> {
    try {
      const request = {
        ...call,
        parts: [kind],
        by: { actor: 'system:retention' as const },
        cause: 'retention' as const,
      };
      return (await deleteCallParts(deps, request)) === 'deleted';
    } catch (error) {
      figures.failed++;
      log.warn({ callUuid: call.callUuid, kind, err: error }, 'what has been kept long enough could not be removed');
      return false;
    }
  }

  function again(work: () => Promise<unknown>, what: string, schedule: () => void): void {
    running = running.then(work).catch((error: unknown) => log.warn({ err: error }, what));
    void running.then(() => {
      if (!closed) schedule();
    });
  }

  function scheduleRun(afterMs: number): void {
    cancelRun = clock.after(afterMs, () =>
      again(
        () => run(),
        'the hourly purge failed',
        () => scheduleRun(EVERY_MS),
      ),
    );
  }

  function scheduleSweep(): void {
    const sweep = (): Promise<unknown> => deps.eraser.sweep();
    cancelSweep = clock.after(ERASED_SWEEP_MS, () => again(sweep, 'erased recordings wait', scheduleSweep));
  }

  return {
    figures,
    run,
    start() {
      scheduleRun(FIRST_AFTER_MS);
      scheduleSweep();
    },
    async close() {
      closed = true;
      cancelRun();
      cancelSweep();
      await running;
    },
  };
}
