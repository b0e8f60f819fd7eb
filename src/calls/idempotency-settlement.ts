/**
 * A client that sent an `Idempotency-Key` and was told "outcome unknown" gets 409 until the outcome is known, then the
 * stored answer (contract §2). This writes that answer, in the transaction that learns the outcome.
 */
import type { Queryable } from '../store/database.ts';
import type { LiveCall } from './live-call.ts';

export const OUTBOUND_CALL_PATH = 'POST /api/outbound-call';

/** Remembers which call a running key belongs to, so that a crash in the middle leaves a trail. */
export async function linkIdempotencyKey(
  tx: Queryable,
  call: { workspaceId: string; idempotencyKey: string | null; callUuid: string },
): Promise<void> {
  if (call.idempotencyKey === null) return;
  await tx.query(
    `UPDATE idempotency_keys SET call_uuid = $3
      WHERE workspace_id = $1 AND method_path = '${OUTBOUND_CALL_PATH}' AND key = $2 AND state = 'running'`,
    [call.workspaceId, call.idempotencyKey, call.callUuid],
  );
}

/** From here to the settlement a retry is answered 409 `idempotency_state_unknown`. */
export async function holdIdempotencyKey(tx: Queryable, call: LiveCall): Promise<void> {
  if (call.idempotencyKey === null) return;
  await tx.query(
    `UPDATE idempotency_keys SET state = 'unknown'
      WHERE workspace_id = $1 AND key = $2 AND call_uuid = $3 AND state = 'running'`,
    [call.workspaceId, call.idempotencyKey, call.callUuid],
  );
}

/** `accepted`: the phone rings after all, a retry is answered 200. `lost`: nothing came of it, a retry is answered 500. */
export async function settleIdempotencyKey(tx: Queryable, call: LiveCall, outcome: 'accepted' | 'lost'): Promise<void> {
  if (call.idempotencyKey === null) return;
  const accepted = outcome === 'accepted';
  await tx.query(
    `UPDATE idempotency_keys
        SET state = 'done', response_status = $4, response_body = $5, response_headers = $6
      WHERE workspace_id = $1 AND key = $2 AND call_uuid = $3 AND state IN ('running', 'unknown')`,
    [
      call.workspaceId,
      call.idempotencyKey,
      call.callUuid,
      accepted ? 200 : 500,
      JSON.stringify(
        accepted ? { success: true, callUuid: call.callUuid } : { success: false, message: 'Internal server error' },
      ),
      JSON.stringify(
        accepted
          ? { 'x-call-status': call.status === 'dialing' ? 'dialing' : 'ringing', 'x-call-uuid': call.callUuid }
          : { 'x-error-code': 'submission_unknown', 'x-call-uuid': call.callUuid },
      ),
    ],
  );
}
