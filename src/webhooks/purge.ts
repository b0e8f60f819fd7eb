/**
 * Once an hour: what was given up, or waited at a URL that stayed off, is removed after 30 days; the bodies of events that have
 * nothing more to do are emptied after as long, since they hold transcripts. Made by `start.ts`; any node may do it.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import type { Database } from '../store/database.ts';

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
  let cancel = (): void => {};
  let current: Promise<void> = Promise.resolve();

  const again = (): void => {
    cancel = clock.after(EVERY_MS, () => {
      current = purgeWebhooks(deps.db, clock.epochMs(), () => closed)
        .catch((error: unknown) => {
          logger.warn({ err: error }, 'old webhooks could not be removed; the next hour tries again');
        })
        .then(() => {
          if (!closed) again();
        });
    });
  };
  again();
  return {
    async close() {
      closed = true;
      cancel();
      await current;
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
  const removed = await inBatches(isOver, async () => {
    const rows = await db.query<{ eventId: string }>(REMOVE_SQL, [before, BATCH]);
    const events = rows.map((row) => row.eventId);
    if (events.length > 0) await db.query(REMOVE_EVENTS_SQL, [events]);
    return rows.length;
  });
  const emptied = await inBatches(isOver, async () => (await db.query(EMPTY_SQL, [before, BATCH])).length);
  return { removed, emptied };
}

async function inBatches(isOver: () => boolean, work: () => Promise<number>): Promise<number> {
  let total = 0;
  for (;;) {
    if (isOver()) return total;
    const count = await work();
    total += count;
    if (count < BATCH) return total;
  }
}

/** A delivery that was delivered once and died when it was sent again counts as dead. */
const REMOVE_SQL = `
  DELETE FROM webhook_deliveries WHERE id IN (
    SELECT d.id FROM webhook_deliveries AS d JOIN webhook_endpoints AS e ON e.id = d.endpoint_id
    WHERE (d.state = 'dead' AND d.dead_at < $1)
      OR (d.state = 'pending' AND e.disabled_at < $1 AND d.created_at < $1)
    LIMIT $2)
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
