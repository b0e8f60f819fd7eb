/**
 * Each five minutes: of a backlog that is longer than the operator lets it be, the oldest are given up, so that a
 * receiver that takes less than there is fills no disk. Once an hour: what was given up, or waited at a URL that
 * stayed off, is removed after 30 days; the bodies of events that have nothing more to do are emptied after as long,
 * since they hold transcripts. Made by `start.ts`; any node may do it.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import { inBatches } from '../store/batches.ts';
import type { Database } from '../store/database.ts';
import { createSweeper } from '../store/sweeper.ts';
import { NOT_UNDER_WAY } from './backlog.ts';

/** Contract §6. */
export const KEEP_DAYS = 30;
const EVERY_MS = 3_600_000;
const BOUND_EVERY_MS = 300_000;
/** A statement, so that none holds many locks for long. */
const BATCH = 1_000;

export interface Purge {
  /** Resolves when no statement runs. Idempotent. */
  close(): Promise<void>;
}

export function startPurge(deps: { db: Database; clock: Clock; logger: Logger; mostWaiting: number }): Purge {
  const { db, clock, logger, mostWaiting } = deps;
  let closed = false;
  const bounding = createSweeper({
    clock,
    everyMs: BOUND_EVERY_MS,
    async sweep() {
      const givenUp = await boundBacklogs(db, mostWaiting, () => closed);
      if (givenUp > 0) {
        logger.error(
          { givenUp, mostWaiting },
          'more webhooks wait for a URL than WEBHOOK_MOST_WAITING: the oldest are given up',
        );
      }
    },
    failed: (err) => logger.warn({ err }, 'backlogs of webhooks could not be bounded; it is tried again'),
  });
  bounding.start(BOUND_EVERY_MS);
  const sweeper = createSweeper({
    clock,
    everyMs: EVERY_MS,
    sweep: () => purgeWebhooks(db, clock.epochMs(), () => closed),
    failed: (err) => logger.warn({ err }, 'old webhooks could not be removed; the next hour tries again'),
  });
  sweeper.start(EVERY_MS);
  return {
    async close() {
      closed = true;
      await bounding.close();
      await sweeper.close();
    },
  };
}

/** Returns how many were given up, of all URLs. What is under way is left alone. */
export function boundBacklogs(db: Database, mostWaiting: number, isOver?: () => boolean): Promise<number> {
  return inBatches(BATCH, async (limit) => (await db.query(GIVE_UP_SQL, [mostWaiting, limit])).length, isOver);
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

const GIVE_UP_SQL = `
  UPDATE webhook_deliveries AS d SET state = 'dead', dead_at = now(), claimed_until = NULL,
         last_error = 'too many waited for this URL: this was one of the oldest'
  WHERE d.state = 'pending' AND d.id IN (
    SELECT old.id FROM (
      SELECT endpoint_id, count(*) - $1 AS excess FROM webhook_deliveries WHERE state = 'pending'
       GROUP BY endpoint_id HAVING count(*) > $1) AS long
    CROSS JOIN LATERAL (
      SELECT d.id FROM webhook_deliveries AS d
       WHERE d.endpoint_id = long.endpoint_id AND d.state = 'pending' AND ${NOT_UNDER_WAY}
       ORDER BY d.id LIMIT least(long.excess, $2)) AS old
    LIMIT $2)
  RETURNING 1 AS one`;

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

/** The oldest first, and each looked up by itself: as joins, both would be done with the tables whole. */
const EMPTY_SQL = `
  UPDATE webhook_events SET body = '' WHERE id = ANY (ARRAY(
    SELECT v.id FROM webhook_events AS v WHERE v.created_at < $1 AND v.body <> ''
      AND (SELECT bool_and(d.state = 'delivered') FROM webhook_deliveries AS d WHERE d.event_id = v.id) IS NOT FALSE
    ORDER BY v.created_at LIMIT $2))
  RETURNING id`;
