/**
 * Once an hour: what was given up, or waited at a URL that stayed off, is removed after 30 days; the bodies of events
 * that have nothing more to do are emptied after as long, since they hold transcripts. Made by
 * `start.ts`; any node may do it.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import { inBatches } from '../store/batches.ts';
import type { Database } from '../store/database.ts';
import { createSweeper } from '../store/sweeper.ts';

/** Contract §6. */
export const KEEP_DAYS = 30;
const EVERY_MS = 3_600_000;
/** A statement, so that none holds many locks for long. */
const BATCH = 1_000;

export interface Purge {
  /** Resolves when no statement runs. Idempotent. */
  close(): Promise<void>;
}

export function startPurge(deps: { db: Database; clock: Clock; logger: Logger }): Purge {
  const { clock, logger } = deps;
  let closed = false;
  const sweeper = createSweeper({
    clock,
    everyMs: EVERY_MS,
    sweep: () => purgeWebhooks(deps.db, clock.epochMs(), () => closed),
    failed: (err) => logger.warn({ err }, 'old webhooks could not be removed; the next hour tries again'),
  });
  sweeper.start(EVERY_MS);
  return {
    async close() {
      closed = true;
      await sweeper.close();
    },
  };
}

/** Returns how many deliveries were removed and how many bodies emptied. */
export async function purgeWebhooks(
  db: Database,
  nowEpochMs: number,
  isOver: () => boolean = () => false,
): Promise<{ removed: number; emptied: number }> {
  const before = new Date(nowEpochMs - KEEP_DAYS * 24 * 3_600_000);
  const remove = (sql: string): Promise<number> =>
    inBatches(
      BATCH,
      async (limit) => {
        const rows = await db.query<{ eventId: string }>(sql, [before, limit]);
        const events = rows.map((row) => row.eventId);
        if (events.length > 0) await db.query(REMOVE_EVENTS_SQL, [events]);
        return rows.length;
      },
      isOver,
    );
  const removed = (await remove(REMOVE_DEAD_SQL)) + (await remove(REMOVE_WAITING_SQL));
  const empty = async (limit: number): Promise<number> => (await db.query(EMPTY_SQL, [before, limit])).length;
  return { removed, emptied: await inBatches(BATCH, empty, isOver) };
}

/** A delivery that was delivered once and died when it was sent again counts as dead. */
const REMOVE_DEAD_SQL = `
  DELETE FROM webhook_deliveries WHERE state = 'dead' AND dead_at < $1 AND id IN (
    SELECT id FROM webhook_deliveries WHERE state = 'dead' AND dead_at < $1 ORDER BY dead_at LIMIT $2)
  RETURNING event_id AS "eventId"`;

/**
 * What waited at a URL that is off. Nothing is due there much later than it was written: before the URL was switched
 * off, so the bound on `next_at` leaves none out, and the backlog's index is read no further than it must be.
 */
const REMOVE_WAITING_SQL = `
  DELETE FROM webhook_deliveries WHERE state = 'pending' AND id IN (
    SELECT old.id FROM webhook_endpoints AS e CROSS JOIN LATERAL (
      SELECT d.id FROM webhook_deliveries AS d
      WHERE d.endpoint_id = e.id AND d.state = 'pending' AND d.created_at < $1 AND d.next_at < $1 + interval '2 days'
      ORDER BY d.next_at, d.id LIMIT $2) AS old
    WHERE e.disabled_at < $1 LIMIT $2)
  RETURNING event_id AS "eventId"`;

const REMOVE_EVENTS_SQL = `
  DELETE FROM webhook_events AS v WHERE v.id = ANY ($1)
    AND NOT EXISTS (SELECT 1 FROM webhook_deliveries AS d WHERE d.event_id = v.id)`;

const EMPTY_SQL = `
  UPDATE webhook_events SET body = '' WHERE id IN (
    SELECT v.id FROM webhook_events AS v WHERE v.created_at < $1 AND v.body <> ''
      AND NOT EXISTS (SELECT 1 FROM webhook_deliveries AS d WHERE d.event_id = v.id AND d.state <> 'delivered')
    LIMIT $2)
  RETURNING id`;
