/**
 * Legal holds: while one lives, nothing of the call (or of any call of the workspace) is removed, by the purge or by
 * anybody's request. Audited.
 */
import { v7 as uuidv7 } from 'uuid';
import type { ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { OperatorError } from '../errors/operator-error.ts';
import type { Database, Queryable } from '../store/database.ts';

export interface LegalHold {
  id: string;
  /** Null: every call of the workspace. */
  callUuid: string | null;
  reason: string;
  placedBy: string;
  placedAt: Date;
}

const LONGEST_REASON = 500;

/** Throws an `OperatorError`. */
export async function placeHold(
  database: Database,
  hold: { workspaceId: string; callUuid: string | null; reason: string; by: ChangedBy; at: Date },
): Promise<LegalHold> {
  const { workspaceId, callUuid, by, at } = hold;
  const reason = hold.reason.trim();
  if (reason === '' || reason.length > LONGEST_REASON) {
    throw new OperatorError('invalid', `A hold needs a reason of up to ${LONGEST_REASON} characters.`);
  }
  return database.transaction(async (tx) => {
    if (callUuid !== null) {
      // Locked, so that a purge that is under way is over, or sees the hold.
      const found = await tx.query('SELECT 1 AS one FROM calls WHERE workspace_id = $1 AND call_uuid = $2 FOR UPDATE', [
        workspaceId,
        callUuid,
      ]);
      if (found.length === 0) throw new OperatorError('not_found', `The workspace has no call '${callUuid}'.`);
    }
    const id = uuidv7();
    await tx.query(
      'INSERT INTO legal_holds (id, workspace_id, call_uuid, reason, placed_by, placed_at) VALUES ($1, $2, $3, $4, $5, $6)',
      [id, workspaceId, callUuid, reason, by.actor, at],
    );
    const target = callUuid === null ? `workspace:${workspaceId}` : `call:${callUuid}`;
    await recordAudit(tx, {
      workspaceId,
      by,
      action: 'legal_hold.placed',
      target,
      before: null,
      after: { id, reason },
    });
    return { id, callUuid, reason, placedBy: by.actor, placedAt: at };
  });
}

/**
 * Throws an `OperatorError` when there is no such hold that lives, or one that this actor may not release: a key
 * releases what keys have placed, a person of the workspace what people have too, and the operator all.
 */
export async function releaseHold(
  database: Database,
  { workspaceId, id, by, at }: { workspaceId: string; id: string; by: ChangedBy; at: Date },
): Promise<void> {
  await database.transaction(async (tx) => {
    const [found] = await tx.query<{ placedBy: string }>(
      `SELECT placed_by AS "placedBy" FROM legal_holds WHERE workspace_id = $1 AND id = $2 AND released_at IS NULL FOR UPDATE`,
      [workspaceId, id],
    );
    if (found !== undefined) mayRelease(by.actor, found.placedBy);
    const [released] = await tx.query<{ callUuid: string | null }>(
      `UPDATE legal_holds SET released_at = $3, released_by = $4
        WHERE workspace_id = $1 AND id = $2 AND released_at IS NULL RETURNING call_uuid AS "callUuid"`,
      [workspaceId, id, at, by.actor],
    );
    if (released === undefined) throw new OperatorError('not_found', `No hold '${id}' lives in this workspace.`);
    const target = released.callUuid === null ? `workspace:${workspaceId}` : `call:${released.callUuid}`;
    await recordAudit(tx, { workspaceId, by, action: 'legal_hold.released', target, before: { id }, after: null });
  });
}

function mayRelease(actor: string, placedBy: string): void {
  const isOf = (kind: string, one: string): boolean => one.startsWith(`${kind}:`);
  if (isOf('key', placedBy) || (!isOf('key', actor) && !isOf('user', actor))) return;
  if (!isOf('user', placedBy)) {
    throw new OperatorError('refused', 'The operator of the service has placed this hold, and releases it.');
  }
  if (isOf('key', actor)) {
    throw new OperatorError(
      'refused',
      'A person has placed this hold: release it at the console, Settings, Retention.',
    );
  }
}

/**
 * Those that live, newest first; `before` is the id of the last one of the page before. A hold
 * on every call is of each call too.
 */
export function listHolds(
  database: Queryable,
  workspaceId: string,
  page: { callUuid?: readonly string[] | undefined; before?: string | null; limit?: number } = {},
): Promise<LegalHold[]> {
  return database.query<LegalHold>(
    `SELECT id, call_uuid AS "callUuid", reason, placed_by AS "placedBy", placed_at AS "placedAt"
       FROM legal_holds WHERE workspace_id = $1 AND released_at IS NULL
        AND ($2::uuid[] IS NULL OR call_uuid IS NULL OR call_uuid = ANY ($2)) AND ($3::uuid IS NULL OR id < $3)
      ORDER BY id DESC LIMIT $4`,
    [workspaceId, page.callUuid ?? null, page.before ?? null, page.limit ?? null],
  );
}

/** The call's row is locked. */
export async function isHeld(tx: Queryable, call: { workspaceId: string; callUuid: string }): Promise<boolean> {
  const found = await tx.query(
    'SELECT 1 AS one FROM legal_holds WHERE workspace_id = $1 AND (call_uuid IS NULL OR call_uuid = $2) AND released_at IS NULL LIMIT 1',
    [call.workspaceId, call.callUuid],
  );
  return found.length > 0;
}
