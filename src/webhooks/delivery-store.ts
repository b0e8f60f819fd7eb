/**
 * The deliveries as rows: claim one, note how its attempt went, find what is due. The row is the truth; a claim is a
 * time until which nobody else touches it, so that whoever dies with one only delays it. Used by delivery and sweep.
 */
import { sealedPlace } from '../sealing/sealed-places.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Database } from '../store/database.ts';
import { NOW } from '../store/due-look.ts';
import { BREAKER_FAILURES } from './breaker.ts';
import { CLAIM_MS, START_WITHIN_MS } from './claim-time.ts';
import type { DisabledReason } from './endpoint.ts';
import { knownHealthySql, noteFailureSql, noteSuccessSql } from './endpoint-health.ts';
import { TEST_EVENT } from './events.ts';
import { takeWrittenClaim, type WrittenClaim, type WrittenDelivery, writtenHere } from './written.ts';

/** Two rounds of the schedule. */
const MAX_LOGGED_ATTEMPTS = 24;

export interface DueDelivery {
  id: string;
  endpointId: string;
}

export interface ClaimedDelivery extends DueDelivery {
  eventId: string;
  event: string;
  callUuid: string | null;
  /** Attempts of this round that have ended; this one is one more. */
  attempts: number;
  /** Attempts of rounds before it: a redelivery begins a new one. */
  earlierAttempts: number;
  url: string;
  /** The exact text to sign and send. */
  body: string;
  /** Newest first; two while a rotation runs. */
  secrets: string[];
  claimedUntil: Date;
  /** When the event was written. */
  createdAt: Date;
  /** The receiver has succeeded within the last minute and has not failed since. */
  knownHealthy: boolean;
}

export type AttemptOutcome =
  | { kind: 'delivered'; status: number }
  | { kind: 'retry'; status: number | null; error: string; nextAtEpochMs: number; disableEndpoint: boolean }
  | { kind: 'dead'; status: number | null; error: string; disableEndpoint: boolean };

export interface Noted {
  /** False when the claim was lost meanwhile, and with it the outcome (a success is written all the same). */
  kept: boolean;
  /** Set when this outcome switched the URL off. */
  disabled: DisabledReason | null;
  /** The next event of the same call that waited for its first attempt when this was noted. */
  next: DueDelivery | null;
}

interface NextOfCall {
  nextId: string | null;
}

export interface DeliveryStore {
  /** Null when it is not due, done, claimed, held back by an earlier event of its call, or its endpoint is disabled. */
  claim(id: string, nowEpochMs: number): Promise<ClaimedDelivery | null>;
  /** `tookMs`: the attempt, for its log. */
  finish(delivery: ClaimedDelivery, outcome: AttemptOutcome, nowEpochMs: number, tookMs: number): Promise<Noted>;
  /** The oldest due deliveries of each enabled endpoint but those in `except`, at most `perEndpoint` of each. */
  due(nowEpochMs: number, perEndpoint: number, except?: readonly string[]): Promise<DueDelivery[]>;
  endpointsOf(ids: readonly string[]): Promise<DueDelivery[]>;
  /** Receivers that failed too often in a row, whichever node tried. */
  openBreakers(nowEpochMs: number): Promise<OpenBreaker[]>;
}

export interface OpenBreaker {
  endpointId: string;
  sinceFailureMs: number;
}

interface SealedSecrets {
  secretSealed: Buffer;
  previousSecretSealed: Buffer | null;
  workspaceId: string;
}

interface ClaimRow extends SealedSecrets {
  id: string;
  endpointId: string;
  eventId: string;
  event: string;
  callUuid: string | null;
  attempts: number;
  earlierAttempts: number;
  url: string;
  body: string;
  knownHealthy: boolean;
  createdAt: Date;
}

export function createDeliveryStore(db: Database, sealer: Sealer): DeliveryStore {
  return {
    async claim(id, nowEpochMs) {
      const claim = takeWrittenClaim(id);
      const written = writtenHere(id);
      const isFresh = claim !== undefined && nowEpochMs - claim.createdAt.getTime() <= START_WITHIN_MS;
      if (isFresh && written?.claimedUntil) return claimedAsWritten(id, written, written.claimedUntil, claim);
      const claimedUntil = new Date(nowEpochMs + CLAIM_MS);
      const former = written?.claimedUntil ?? null;
      const rows = await db.query<ClaimRow>(CLAIM_SQL, [id, new Date(nowEpochMs), claimedUntil, former]);
      const row = rows[0];
      if (row === undefined) return null;
      const { workspaceId, secretSealed, previousSecretSealed, ...rest } = row;
      return { ...rest, secrets: secretsOf(row), claimedUntil };
    },
    async finish(delivery, outcome, nowEpochMs, tookMs) {
      const parameters = finishParameters(delivery, outcome, new Date(nowEpochMs), tookMs);
      const ofEndpoint = [delivery.endpointId, delivery.url];
      if (outcome.kind === 'delivered' && !delivery.knownHealthy) {
        const done = await db.query<NextOfCall>(FINISH_HEALED_SQL, [...parameters, ...ofEndpoint]);
        return { kept: done.length === 1, disabled: null, next: nextOf(delivery, done[0]) };
      }
      if (outcome.kind === 'delivered' || delivery.event === TEST_EVENT) {
        const done = await db.query<NextOfCall>(FINISH_ALONE_SQL, parameters);
        return { kept: done.length === 1, disabled: null, next: nextOf(delivery, done[0]) };
      }
      const failed = [...parameters, ...ofEndpoint, outcome.disableEndpoint];
      const [noted] = await db.query<Pick<Noted, 'kept' | 'disabled'> & NextOfCall>(FINISH_FAILED_SQL, failed);
      const { kept, disabled } = noted!;
      return { kept, disabled, next: nextOf(delivery, noted) };
    },
    due: (nowEpochMs, perEndpoint, except = []) =>
      db.query<DueDelivery>(DUE_SQL, [new Date(nowEpochMs), perEndpoint, except]),
    endpointsOf: (ids) =>
      db.query<DueDelivery>('SELECT id, endpoint_id AS "endpointId" FROM webhook_deliveries WHERE id = ANY($1)', [ids]),
    openBreakers: (nowEpochMs) => db.query<OpenBreaker>(OPEN_BREAKERS_SQL, [new Date(nowEpochMs), BREAKER_FAILURES]),
  };

  /** By this process, a moment ago. */
  function claimedAsWritten(
    id: string,
    { endpointId, callUuid }: WrittenDelivery,
    claimedUntil: Date,
    claim: WrittenClaim,
  ): ClaimedDelivery {
    const { eventId, event, body, url, createdAt, knownHealthy } = claim;
    const counts = { attempts: 0, earlierAttempts: 0 };
    const facts = { eventId, event, body, url, createdAt, knownHealthy };
    return { id, endpointId, callUuid, ...counts, ...facts, secrets: secretsOf(claim), claimedUntil };
  }

  function secretsOf({ workspaceId, secretSealed, previousSecretSealed }: SealedSecrets): string[] {
    const place = sealedPlace.webhookSecret(workspaceId);
    const sealed = previousSecretSealed === null ? [secretSealed] : [secretSealed, previousSecretSealed];
    return sealed.map((one) => sealer.open(one, place));
  }
}

function nextOf({ endpointId }: ClaimedDelivery, found: NextOfCall | undefined): DueDelivery | null {
  const id = found?.nextId ?? null;
  return id === null ? null : { id, endpointId };
}

function finishParameters(delivery: ClaimedDelivery, outcome: AttemptOutcome, now: Date, tookMs: number): unknown[] {
  const error = outcome.kind === 'delivered' ? null : outcome.error;
  const entry = {
    at: now.toISOString(),
    attempt: delivery.earlierAttempts + delivery.attempts + 1,
    status: outcome.status,
    error,
    ms: Math.round(tookMs),
  };
  return [
    delivery.id,
    delivery.claimedUntil,
    outcome.kind === 'retry' ? 'pending' : outcome.kind,
    outcome.status,
    error,
    outcome.kind === 'retry' ? new Date(outcome.nextAtEpochMs) : null,
    outcome.kind === 'delivered' ? now : null,
    outcome.kind === 'dead' ? now : null,
    now,
    JSON.stringify([entry]),
    MAX_LOGGED_ATTEMPTS,
  ];
}

/**
 * Claims and notes do not wait for the disk: what a crash of the database takes of them (its last half second at most)
 * is sent again under the same `webhook-id`, as after any crash. So receivers that hang cost those that answer no turn
 * at the disk.
 */
const UNHURRIED = `(SELECT set_config('synchronous_commit', 'off', true) AS commits) AS disk`;

/**
 * `$4`: until when it was claimed as it was written, by this process. SKIP LOCKED: of two that want one row, the second
 * goes on at once. The last condition is the order of a call's events.
 */
const CLAIM_SQL = `
  UPDATE webhook_deliveries AS d SET claimed_until = $3
  FROM webhook_events AS v, webhook_endpoints AS e, ${UNHURRIED}
  WHERE disk.commits = 'off' AND d.id = (SELECT id FROM webhook_deliveries WHERE id = $1 FOR UPDATE SKIP LOCKED)
    AND v.id = d.event_id AND e.id = d.endpoint_id AND e.disabled_at IS NULL
    AND d.state = 'pending' AND d.next_at <= $2 AND (d.claimed_until IS NULL OR d.claimed_until <= $2 OR d.claimed_until = $4)
    AND (d.attempts > 0 OR NOT EXISTS (
      SELECT 1 FROM webhook_events AS earlier JOIN webhook_deliveries AS first ON first.event_id = earlier.id
      WHERE earlier.call_uuid = v.call_uuid AND earlier.sequence < v.sequence
        AND first.endpoint_id = d.endpoint_id AND first.state = 'pending' AND first.attempts = 0))
  RETURNING d.id, d.endpoint_id AS "endpointId", d.event_id AS "eventId", v.event, v.call_uuid AS "callUuid", d.attempts,
    d.earlier_attempts AS "earlierAttempts", e.url, v.body, v.created_at AS "createdAt",
    ${knownHealthySql('$2')} AS "knownHealthy",
    e.workspace_id AS "workspaceId", e.secret_sealed AS "secretSealed",
    CASE WHEN e.previous_until > $2 THEN e.previous_secret_sealed END AS "previousSecretSealed"`;

/** The log keeps its newest entries; a delivery that was delivered before keeps the time of that until it is again. */
const FINISH_SQL = `
  UPDATE webhook_deliveries AS d SET state = $3, attempts = attempts + 1, claimed_until = NULL, last_status = $4,
    last_error = $5, next_at = coalesce($6, next_at), delivered_at = coalesce($7, delivered_at), dead_at = $8,
    last_attempt_at = $9,
    attempt_log = CASE WHEN jsonb_array_length(attempt_log) >= $11 THEN attempt_log - 0 ELSE attempt_log END || $10::jsonb
  FROM ${UNHURRIED}
  WHERE disk.commits = 'off' AND d.id = $1 AND d.state = 'pending' AND (d.claimed_until = $2 OR $3 = 'delivered')
  RETURNING d.id, d.event_id, d.endpoint_id`;

const NEXT_OF_CALL = `(
  SELECT waiting.id FROM noted
  JOIN webhook_events AS done ON done.id = noted.event_id
  JOIN webhook_events AS v ON v.call_uuid = done.call_uuid AND v.sequence > done.sequence
  JOIN webhook_deliveries AS waiting ON waiting.event_id = v.id AND waiting.endpoint_id = noted.endpoint_id
  WHERE waiting.state = 'pending' AND waiting.attempts = 0
  ORDER BY v.sequence LIMIT 1) AS "nextId"`;

const FINISH_ALONE_SQL = `WITH noted AS (${FINISH_SQL}) SELECT ${NEXT_OF_CALL} FROM noted`;

/** The endpoint's row first, as whoever switches it on does: the count makes the second wait for the first. */
const FINISH_HEALED_SQL = `
  WITH healed AS (${noteSuccessSql({ endpointId: '$12', url: '$13', now: '$9' })}),
  noted AS (${FINISH_SQL.replace('FROM (', 'FROM (SELECT count(*) FROM healed) AS endpoint, (')})
  SELECT ${NEXT_OF_CALL} FROM noted`;

/** The same. */
const FINISH_FAILED_SQL = `
  WITH judged AS (${noteFailureSql({ endpointId: '$12', url: '$13', now: '$9', isGone: '$14', error: '$5' })}),
  noted AS (${FINISH_SQL.replace('FROM (', 'FROM (SELECT count(*) FROM judged) AS endpoint, (')})
  SELECT EXISTS (SELECT 1 FROM noted) AS kept, (SELECT reason FROM judged) AS disabled, ${NEXT_OF_CALL}`;

const OPEN_BREAKERS_SQL = `
  SELECT id AS "endpointId", coalesce(extract(epoch FROM $1::timestamptz - last_failure_at) * 1000, 1e9)::float8 AS "sinceFailureMs"
  FROM webhook_endpoints WHERE disabled_at IS NULL AND failures_since_success >= $2`;

/** Endpoint by endpoint, each from its own stretch of the index: a long backlog costs no more than a short one. */
const DUE_SQL = `
  SELECT due.id, e.id AS "endpointId"
  FROM webhook_endpoints AS e CROSS JOIN LATERAL (
    SELECT d.id, d.next_at FROM webhook_deliveries AS d
    WHERE d.endpoint_id = e.id AND d.state = 'pending' AND d.next_at <= $1
      AND (d.claimed_until IS NULL OR d.claimed_until <= $1)
    ORDER BY d.next_at, d.id LIMIT $2) AS due
  WHERE e.disabled_at IS NULL AND e.id <> ALL ($3::uuid[])
  ORDER BY due.next_at, due.id`;

/** For the look that all share: something is due, or a receiver fails so often that lanes have to heed it. */
export const MAY_BE_DUE_SQL = `EXISTS (
  SELECT 1 FROM webhook_endpoints AS e
  WHERE e.disabled_at IS NULL AND (e.failures_since_success >= ${BREAKER_FAILURES} OR EXISTS (
    SELECT 1 FROM webhook_deliveries AS d WHERE d.endpoint_id = e.id AND d.state = 'pending' AND d.next_at <= ${NOW}
      AND (d.claimed_until IS NULL OR d.claimed_until <= ${NOW}))))`;
