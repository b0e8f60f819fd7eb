/**
 * By what a call came to be: which request, whose, from where. Read by the API. The audit has who asked; its row is
 * found by its id, which was made in the same transaction as the call's own, a moment later.
 */
import type { Queryable } from '../store/database.ts';

export interface CallOrigin {
  requestId: string;
  /** `POST /api/outbound-call`; null where no Idempotency-Key was sent, or nobody asked by HTTP. */
  operation: string | null;
  idempotencyKey: string | null;
  at: Date;
  /** `key:…`, `user:…`, `system:…`; null: the audit says nothing. */
  actor: string | null;
  /** What the key or the person is called. */
  actorName: string | null;
  ip: string | null;
}

/** The audit's row follows the call's in time so closely. */
const WITHIN_MS = 60_000;

/** Undefined: the workspace has no such call. */
export async function readCallOrigin(
  database: Queryable,
  { workspaceId, callUuid }: { workspaceId: string; callUuid: string },
): Promise<CallOrigin | undefined> {
  const [found] = await database.query<CallOrigin>(
    `SELECT c.request_id AS "requestId", c.idempotency_path AS operation, c.idempotency_key AS "idempotencyKey",
            c.created_at AS at, a.actor, a.ip,
            coalesce((SELECT k.name FROM api_keys k WHERE 'key:' || k.key_id = a.actor AND k.workspace_id = $1),
                     (SELECT u.name FROM users u WHERE 'user:' || u.id = a.actor)) AS "actorName"
       FROM calls c
       LEFT JOIN audit_log a ON a.id BETWEEN $2 AND $3 AND a.workspace_id = $1
         AND a.target = 'call:' || c.call_uuid AND a.action = 'call.placed'
      WHERE c.workspace_id = $1 AND c.call_uuid = $2`,
    [workspaceId, callUuid, idAfter(callUuid, WITHIN_MS)],
  );
  return found;
}

/** Ids begin with their time: the last one that is made so long after this one (RFC 9562, version 7). */
function idAfter(id: string, ms: number): string {
  const atMs = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16) + ms;
  const digits = Math.min(atMs, 0xffff_ffff_ffff).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-ffff-ffff-ffffffffffff`;
}
