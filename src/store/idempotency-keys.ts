/**
 * The rows behind `Idempotency-Key` (contract §2). The outbound-call route begins, finishes, holds and releases a key;
 * the calls builder settles it when a submission whose outcome was unknown becomes known. A key belongs to the call.
 *
 *   (none) ── begin ──► running ── finish ──► done            200 and final 4xx, replayed for 24 h
 *                          ├────── release ─► (none)          429 and 5xx: the client may try again
 *                          └────── hold ────► unknown ─ settle ─► done
 */
import type { EndedReason } from '../../media/contract/call-outcome.ts';
import { CARRIER_REFUSAL_CODES, factsOf } from '../errors/error-codes.ts';
import { inBatches } from './batches.ts';
import type { Queryable } from './database.ts';

export interface IdempotencyScope {
  workspaceId: string;
  /** `POST /api/outbound-call` */
  methodPath: string;
  key: string;
}

export interface StoredAnswer {
  status: number;
  /** The exact text of the answer's body. */
  body: string;
  headers: Record<string, string>;
}

export type IdempotencyStart =
  | { kind: 'started' }
  | { kind: 'replay'; answer: StoredAnswer }
  | { kind: 'running' }
  | { kind: 'unknown' }
  | { kind: 'mismatch' };

interface KeyRow {
  body_sha256: Buffer;
  state: 'running' | 'done' | 'unknown';
  stale: boolean;
  response_status: number | null;
  response_body: string | null;
  response_headers: Record<string, string> | null;
}

interface BegunCall {
  call_uuid: string;
  lead_id: string | null;
  submission: string | null;
  /** Null: it is not over. */
  ended_reason: EndedReason | null;
}

const KEEP_HOURS = 24;
/** No request runs this long (a carrier gets 5 s, twice at most): its process died. */
const STALE_AFTER_SECONDS = 60;

/**
 * Calls of a key's request: made since it began, and found by their ids, which begin with the time, however many calls
 * the workspace has. Who makes an id goes by its machine's clock; the column goes by the database's.
 */
const MADE_SINCE_KEY = `c.created_at > k.created_at - interval '5 seconds' AND c.call_uuid >= (lpad(to_hex(
         floor(extract(epoch FROM k.created_at - interval '5 minutes') * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid`;
/** A key is one path's: the same text may stand for another request elsewhere. */
const PATH_OF_CALL = `coalesce(c.idempotency_path, 'POST /api/outbound-call')`;
const WHERE_KEY = 'workspace_id = $1 AND method_path = $2 AND key = $3';
const parametersOf = (scope: IdempotencyScope): string[] => [scope.workspaceId, scope.methodPath, scope.key];

export async function beginIdempotent(
  database: Queryable,
  scope: IdempotencyScope,
  bodySha256: Buffer,
): Promise<IdempotencyStart> {
  const begun = await database.query(
    `INSERT INTO idempotency_keys AS k (workspace_id, method_path, key, body_sha256, state, created_at)
     VALUES ($1, $2, $3, $4, 'running', clock_timestamp())
     ON CONFLICT (workspace_id, method_path, key) DO UPDATE
       SET body_sha256 = EXCLUDED.body_sha256, state = 'running', call_uuid = NULL, response_status = NULL,
           response_body = NULL, response_headers = NULL, created_at = clock_timestamp()
       WHERE k.state <> 'unknown' AND k.created_at < clock_timestamp() - interval '${KEEP_HOURS} hours'
     RETURNING 1 AS one`,
    [...parametersOf(scope), bodySha256],
  );
  if (begun.length > 0) return { kind: 'started' };
  const [row] = await database.query<KeyRow>(
    `SELECT body_sha256, state, response_status, response_body, response_headers,
            created_at < clock_timestamp() - interval '${STALE_AFTER_SECONDS} seconds' AS stale
     FROM idempotency_keys WHERE ${WHERE_KEY}`,
    parametersOf(scope),
  );
  // Released between the two statements: the other request has just been refused, and this one is told to come again.
  if (row === undefined) return { kind: 'running' };
  if (!row.body_sha256.equals(bodySha256)) return { kind: 'mismatch' };
  if (row.state === 'unknown') return resumeHeld(database, scope);
  if (row.state === 'running') return row.stale ? resumeStale(database, scope, bodySha256) : { kind: 'running' };
  return {
    kind: 'replay',
    answer: { status: row.response_status ?? 500, body: row.response_body ?? '', headers: row.response_headers ?? {} },
  };
}

/** Stores the final answer. A key that was settled meanwhile keeps what it was settled to. */
export async function finishIdempotent(
  database: Queryable,
  scope: IdempotencyScope,
  answer: StoredAnswer,
  callUuid: string | null,
  from: 'running' | 'unknown' = 'running',
): Promise<void> {
  await database.query(
    `UPDATE idempotency_keys SET state = 'done', response_status = $4, response_body = $5, response_headers = $6, call_uuid = $7
     WHERE ${WHERE_KEY} AND state = $8`,
    [...parametersOf(scope), answer.status, answer.body, JSON.stringify(answer.headers), callUuid, from],
  );
}

export async function releaseIdempotent(database: Queryable, scope: IdempotencyScope): Promise<void> {
  await database.query(`DELETE FROM idempotency_keys WHERE ${WHERE_KEY} AND state = 'running'`, parametersOf(scope));
}

/** The carrier may or may not have dialled: nobody gets the key until `settleIdempotency`. */
export async function holdIdempotent(database: Queryable, scope: IdempotencyScope, callUuid: string): Promise<void> {
  await database.query(
    `UPDATE idempotency_keys SET state = 'unknown', call_uuid = $4 WHERE ${WHERE_KEY} AND state = 'running'`,
    [...parametersOf(scope), callUuid],
  );
}

/**
 * After a throw or a crash: holds the key if a call was begun under it that the carrier did not plainly refuse.
 * Resolves whether it did; false means that nothing was dialled.
 */
export async function holdIfCallExists(database: Queryable, scope: IdempotencyScope): Promise<boolean> {
  const held = await database.query(
    `UPDATE idempotency_keys k SET state = 'unknown', call_uuid = c.call_uuid
     FROM calls c
     WHERE k.workspace_id = $1 AND k.method_path = $2 AND k.key = $3 AND k.state = 'running'
       AND c.workspace_id = $1 AND c.idempotency_key = $3 AND ${PATH_OF_CALL} = $2 AND c.submission IS DISTINCT FROM 'refused'
       AND ${MADE_SINCE_KEY}
     RETURNING 1 AS one`,
    parametersOf(scope),
  );
  return held.length > 0;
}

/**
 * Called in the transaction that learns what became of an unknown submission. `accepted`: the carrier did take the
 * call, so a repeat gets the 200 with its `callUuid`; `failed`: it stays the 500 that the first request got. Does
 * nothing for a call without a key, and nothing the second time. A request that is still being
 * answered is settled by it too.
 */
export async function settleIdempotency(
  tx: Queryable,
  call: { callUuid: string; leadId: string | null },
  outcome: 'accepted' | 'failed',
): Promise<void> {
  const { callUuid } = call;
  const answer = outcome === 'accepted' ? acceptedAnswer(call) : unknownAnswer(callUuid);
  await tx.query(
    `UPDATE idempotency_keys k
     SET state = 'done', call_uuid = c.call_uuid, response_status = $2, response_body = $3, response_headers = $4
     FROM calls c
     WHERE c.call_uuid = $1 AND k.workspace_id = c.workspace_id AND k.key = c.idempotency_key AND k.method_path = ${PATH_OF_CALL}
       AND (k.call_uuid = c.call_uuid AND k.state = 'unknown'
            OR k.call_uuid IS NULL AND k.state = 'running' AND c.created_at > k.created_at - interval '5 seconds')`,
    [callUuid, answer.status, answer.body, JSON.stringify(answer.headers)],
  );
}

const PURGE_BATCH = 1_000;
/** By a time that stands while the statement runs: an index is not asked for one that does not. */
const IS_OLD = `state <> 'unknown' AND created_at < now() - interval '${KEEP_HOURS} hours'`;

/**
 * Forgets what is older than 24 h. Keys that wait for an outcome stay. A key that is taken anew
 * meanwhile is judged again.
 */
export async function purgeIdempotencyKeys(database: Queryable, isOver?: () => boolean): Promise<number> {
  const remove = async (limit: number): Promise<number> => {
    const removed = await database.query(
      `DELETE FROM idempotency_keys WHERE ${IS_OLD} AND (workspace_id, method_path, key) IN (
         SELECT workspace_id, method_path, key FROM idempotency_keys WHERE ${IS_OLD} ORDER BY created_at LIMIT $1)
       RETURNING 1 AS one`,
      [limit],
    );
    return removed.length;
  };
  return inBatches(PURGE_BATCH, remove, isOver);
}

/** Of POST /api/outbound-call, or of a lead's call. */
export function acceptedAnswer({ callUuid, leadId }: { callUuid: string; leadId: string | null }): StoredAnswer {
  return {
    status: 200,
    body: JSON.stringify({ success: true, callUuid, ...(leadId === null ? {} : { leadId }) }),
    headers: { 'x-call-uuid': callUuid, 'x-call-status': 'dialing' },
  };
}

function unknownAnswer(callUuid: string): StoredAnswer {
  return {
    status: 500,
    body: JSON.stringify({ success: false, message: 'Internal server error' }),
    headers: { 'x-call-uuid': callUuid, 'x-error-code': 'submission_unknown' },
  };
}

function rejectedAnswer(callUuid: string, reason: EndedReason): StoredAnswer {
  const { status, message } = factsOf(reason);
  return {
    status,
    body: JSON.stringify({ success: false, message }),
    headers: { 'x-error-code': reason, 'x-call-uuid': callUuid },
  };
}

/** What its request was, or would have been, answered; null: nobody knows yet. */
function answerOf({ call_uuid: callUuid, lead_id: leadId, submission, ended_reason }: BegunCall): StoredAnswer | null {
  if (submission === 'accepted') return acceptedAnswer({ callUuid, leadId });
  if (ended_reason === null) return null;
  return submission === 'refused' ? rejectedAnswer(callUuid, ended_reason) : unknownAnswer(callUuid);
}

const SELECT_BEGUN = `
  SELECT c.call_uuid, c.lead_id, c.submission, c.ended_reason FROM calls c JOIN idempotency_keys k ON k.workspace_id = c.workspace_id
   WHERE k.workspace_id = $1 AND k.method_path = $2 AND k.key = $3`;

/**
 * Whoever learns what became of a call whose outcome was unknown settles its key. Of one that nobody had taken for
 * unknown yet, because the database was away until it was over, the row says it here.
 */
async function resumeHeld(database: Queryable, scope: IdempotencyScope): Promise<IdempotencyStart> {
  const [call] = await database.query<BegunCall>(`${SELECT_BEGUN} AND c.call_uuid = k.call_uuid`, parametersOf(scope));
  const answer = call === undefined ? null : answerOf(call);
  if (call === undefined || answer === null) return { kind: 'unknown' };
  await finishIdempotent(database, scope, answer, call.call_uuid, 'unknown');
  return { kind: 'replay', answer };
}

/**
 * The process that held the key is gone, or the database was away when it answered. What its call has come to is the
 * answer: the carrier's refusal too. One that is under way will be settled by its own reconciliation; else the key is
 * free.
 */
async function resumeStale(
  database: Queryable,
  scope: IdempotencyScope,
  bodySha256: Buffer,
): Promise<IdempotencyStart> {
  const [call] = await database.query<BegunCall>(
    `${SELECT_BEGUN} AND c.idempotency_key = $3 AND ${PATH_OF_CALL} = $2
        AND (c.submission IS DISTINCT FROM 'refused' OR c.ended_reason = ANY ($4::text[]))
        AND ${MADE_SINCE_KEY}
      ORDER BY c.call_uuid DESC LIMIT 1`,
    [...parametersOf(scope), CARRIER_REFUSAL_CODES],
  );
  if (call !== undefined) {
    const answer = answerOf(call);
    if (answer === null) {
      await holdIdempotent(database, scope, call.call_uuid);
      return { kind: 'unknown' };
    }
    await finishIdempotent(database, scope, answer, call.call_uuid);
    return { kind: 'replay', answer };
  }
  const taken = await database.query(
    `UPDATE idempotency_keys SET created_at = clock_timestamp(), body_sha256 = $4
     WHERE ${WHERE_KEY} AND state = 'running' AND created_at < clock_timestamp() - interval '${STALE_AFTER_SECONDS} seconds'
     RETURNING 1 AS one`,
    [...parametersOf(scope), bodySha256],
  );
  return { kind: taken.length > 0 ? 'started' : 'running' };
}
