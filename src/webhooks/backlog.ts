/**
 * What happens to waiting deliveries when a URL is switched on or changed: they begin their schedule anew, now. Called
 * by `endpoint.ts` after it changed the endpoint's row (the same order of locks as delivery
 * has: endpoint, then deliveries).
 */
import type { Database, Queryable } from '../store/database.ts';

/** A URL that was away for hours has up to a million deliveries waiting: more than any other statement changes. */
const LIMIT_MS = 120_000;
const ANSWER_BEHIND_MS = 2_000;

/**
 * One transaction in which a URL is changed and its backlog with it. Its row is to be locked `FOR NO KEY UPDATE`:
 * events that are written meanwhile name it.
 */
export function changeWithBacklog<Result>(
  database: Database,
  work: (tx: Queryable) => Promise<Result>,
): Promise<Result> {
  return database.transaction(
    async (tx) => {
      await tx.query(`SELECT set_config('statement_timeout', $1, true)`, [`${LIMIT_MS}ms`]);
      return work(tx);
    },
    { answerLimitMs: LIMIT_MS + ANSWER_BEHIND_MS },
  );
}

/**
 * A round of 12 attempts that begins at once: due since the event was written, so that the oldest goes first.
 * `X-Delivery-Attempt` counts on. For a statement on `webhook_deliveries AS d`.
 */
export const NEW_ROUND = `state = 'pending', next_at = d.created_at, claimed_until = NULL, dead_at = NULL,
  earlier_attempts = d.earlier_attempts + d.attempts, attempts = 0`;
/** What is under way at this moment is left alone. */
export const NOT_UNDER_WAY = `(d.state <> 'pending' OR d.claimed_until IS NULL OR d.claimed_until <= now())`;

/** The URL is gone: what waits for it is given up, and kept for 30 days as what was given up otherwise. */
export async function abandonBacklog(db: Queryable, endpointId: string): Promise<void> {
  await db.query(
    `UPDATE webhook_deliveries AS d SET state = 'dead', dead_at = now(), claimed_until = NULL,
            last_error = 'the webhook URL was removed'
     WHERE d.endpoint_id = $1 AND d.state = 'pending' AND ${NOT_UNDER_WAY}`,
    [endpointId],
  );
}

/** `since`: what died later than that is sent too. Rows that never were tried are due already and stay as they are. */
export async function releaseBacklog(db: Queryable, endpointId: string, since: Date | null): Promise<void> {
  await db.query(
    `UPDATE webhook_deliveries AS d SET ${NEW_ROUND}
     WHERE d.endpoint_id = $1 AND ${NOT_UNDER_WAY} AND (
       (d.state = 'pending' AND d.attempts > 0) OR (d.state = 'dead' AND d.dead_at >= $2))`,
    [endpointId, since],
  );
}
