/**
 * The deliveries as rows: claim one, note how its attempt went, find what is due. The row is the truth; a claim is a time
 * until which nobody else touches it, so that whoever dies with one only delays it. Used by delivery and sweep.
 */
import type { Database, Queryable } from '../store/database.ts';
import type { Sealer } from '../store/secrets.ts';

/** Longer than an attempt can take (10 s to be taken, 3 s to be answered, 1 s of body, bookkeeping). */
export const CLAIM_MS = 20_000;

export interface DueDelivery {
  id: string;
  endpointId: string;
}

export interface ClaimedDelivery extends DueDelivery {
  eventId: string;
  event: string;
  callUuid: string | null;
  /** Attempts that have ended; this one is one more. */
  attempts: number;
  url: string;
  /** The exact text to sign and send. */
  body: string;
  /** Newest first; two while a rotation runs. */
  secrets: string[];
  claimedUntil: Date;
  /** When the event was written. */
  createdAt: Date;
}

export type AttemptOutcome =
  | { kind: 'delivered'; status: number }
  | { kind: 'retry'; status: number | null; error: string; nextAtEpochMs: number; disableEndpoint: boolean }
  | { kind: 'dead'; status: number | null; error: string; disableEndpoint: boolean };

export interface DeliveryStore {
  /** Null when it is not due, done, claimed, held back by an earlier event of its call, or its endpoint is disabled. */
  claim(id: string, nowEpochMs: number): Promise<ClaimedDelivery | null>;
  /** False when the claim was lost meanwhile, and with it the outcome (a success is written all the same). */
  finish(delivery: ClaimedDelivery, outcome: AttemptOutcome, nowEpochMs: number): Promise<boolean>;
  /** The next event of the same call that waits for its first attempt. */
  nextOfCall(delivery: ClaimedDelivery): Promise<DueDelivery | null>;
  /** The oldest due deliveries of each enabled endpoint, at most `perEndpoint` of each. */
  due(nowEpochMs: number, perEndpoint: number): Promise<DueDelivery[]>;
  endpointsOf(ids: readonly string[]): Promise<DueDelivery[]>;
}

interface ClaimRow {
  id: string;
  endpointId: string;
  eventId: string;
  event: string;
  callUuid: string | null;
  attempts: number;
  url: string;
  body: string;
  secretSealed: Buffer;
  previousSecretSealed: Buffer | null;
  createdAt: Date;
}

export function createDeliveryStore(db: Database, sealer: Sealer): DeliveryStore {
  return {
    async claim(id, nowEpochMs) {
      const claimedUntil = new Date(nowEpochMs + CLAIM_MS);
      const rows = await db.query<ClaimRow>(CLAIM_SQL, [id, new Date(nowEpochMs), claimedUntil]);
      const row = rows[0];
      if (row === undefined) return null;
      const { secretSealed, previousSecretSealed, ...rest } = row;
      const secrets = [sealer.open(secretSealed)];
      if (previousSecretSealed !== null) secrets.push(sealer.open(previousSecretSealed));
      return { ...rest, secrets, claimedUntil };
    },
    async finish(delivery, outcome, nowEpochMs) {
      return await db.transaction(async (tx) => {
        if (outcome.kind !== 'delivered' && outcome.disableEndpoint) await disable(tx, delivery, nowEpochMs);
        const rows = await tx.query<{ id: string }>(FINISH_SQL, [
          delivery.id,
          delivery.claimedUntil,
          outcome.kind === 'retry' ? 'pending' : outcome.kind,
          outcome.status,
          outcome.kind === 'delivered' ? null : outcome.error,
          outcome.kind === 'retry' ? new Date(outcome.nextAtEpochMs) : null,
          outcome.kind === 'delivered' ? new Date(nowEpochMs) : null,
        ]);
        return rows.length === 1;
      });
    },
    async nextOfCall(delivery) {
      const rows = await db.query<DueDelivery>(NEXT_OF_CALL_SQL, [delivery.eventId, delivery.endpointId]);
      return rows[0] ?? null;
    },
    due: (nowEpochMs, perEndpoint) => db.query<DueDelivery>(DUE_SQL, [new Date(nowEpochMs), perEndpoint]),
    endpointsOf: (ids) =>
      db.query<DueDelivery>('SELECT id, endpoint_id AS "endpointId" FROM webhook_deliveries WHERE id = ANY($1)', [ids]),
  };
}

/** Only while the URL is still the one that said so. */
async function disable(tx: Queryable, delivery: ClaimedDelivery, nowEpochMs: number): Promise<void> {
  await tx.query('UPDATE webhook_endpoints SET disabled_at = $3 WHERE id = $1 AND url = $2 AND disabled_at IS NULL', [
    delivery.endpointId,
    delivery.url,
    new Date(nowEpochMs),
  ]);
}

/** SKIP LOCKED: of two that want one row, the second goes on at once. The last condition is the order of a call's events. */
const CLAIM_SQL = `
  UPDATE webhook_deliveries AS d SET claimed_until = $3
  FROM webhook_events AS v, webhook_endpoints AS e
  WHERE d.id = (SELECT id FROM webhook_deliveries WHERE id = $1 FOR UPDATE SKIP LOCKED)
    AND v.id = d.event_id AND e.id = d.endpoint_id AND e.disabled_at IS NULL
    AND d.state = 'pending' AND d.next_at <= $2 AND (d.claimed_until IS NULL OR d.claimed_until <= $2)
    AND (d.attempts > 0 OR NOT EXISTS (
      SELECT 1 FROM webhook_events AS earlier JOIN webhook_deliveries AS first ON first.event_id = earlier.id
      WHERE earlier.call_uuid = v.call_uuid AND earlier.sequence < v.sequence
        AND first.endpoint_id = d.endpoint_id AND first.state = 'pending' AND first.attempts = 0))
  RETURNING d.id, d.endpoint_id AS "endpointId", d.event_id AS "eventId", v.event, v.call_uuid AS "callUuid", d.attempts,
    e.url, v.body, v.created_at AS "createdAt", e.secret_sealed AS "secretSealed",
    CASE WHEN e.previous_until > $2 THEN e.previous_secret_sealed END AS "previousSecretSealed"`;

const FINISH_SQL = `
  UPDATE webhook_deliveries SET state = $3, attempts = attempts + 1, claimed_until = NULL, last_status = $4,
    last_error = $5, next_at = coalesce($6, next_at), delivered_at = $7
  WHERE id = $1 AND state = 'pending' AND (claimed_until = $2 OR $3 = 'delivered') RETURNING id`;

const NEXT_OF_CALL_SQL = `
  SELECT d.id, d.endpoint_id AS "endpointId"
  FROM webhook_events AS done
  JOIN webhook_events AS v ON v.call_uuid = done.call_uuid AND v.sequence > done.sequence
  JOIN webhook_deliveries AS d ON d.event_id = v.id AND d.endpoint_id = $2
  WHERE done.id = $1 AND d.state = 'pending' AND d.attempts = 0
  ORDER BY v.sequence LIMIT 1`;

const DUE_SQL = `
  SELECT id, "endpointId" FROM (
    SELECT d.id, d.endpoint_id AS "endpointId", d.next_at,
      row_number() OVER (PARTITION BY d.endpoint_id ORDER BY d.next_at, d.id) AS place
    FROM webhook_deliveries AS d JOIN webhook_endpoints AS e ON e.id = d.endpoint_id
    WHERE e.disabled_at IS NULL AND d.state = 'pending' AND d.next_at <= $1
      AND (d.claimed_until IS NULL OR d.claimed_until <= $1)
  ) AS ranked WHERE place <= $2 ORDER BY next_at, id`;
