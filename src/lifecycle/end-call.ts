/**
 * Ends a call because somebody asked for it: a program, or a person at the console. Idempotent; a finished call stays
 * as it is.
 */

import type { ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { ACTIVE } from '../calls/active-statuses.ts';
import type { Database } from '../store/database.ts';
import type { Transitions } from './transition.ts';

/** What the call log says of it: a person at the console is an operator, a key is the API. */
export function hangupReason({ actor }: Pick<ChangedBy, 'actor'>): 'api_hangup' | 'operator_hangup' {
  return actor.startsWith('user:') ? 'operator_hangup' : 'api_hangup';
}

export async function endCall(
  transitions: Transitions,
  callUuid: string,
  reason: 'api_hangup' | 'operator_hangup',
  by: ChangedBy,
): Promise<'asked' | 'over' | 'unknown_call'> {
  const observation = {
    type: 'end.asked',
    reason,
    hangupBy: reason === 'operator_hangup' ? 'operator' : 'platform',
  } as const;
  const applied = await transitions.apply(callUuid, observation, {
    alongside: (tx, { call }) =>
      recordAudit(tx, {
        workspaceId: call.workspaceId,
        by,
        action: 'call.end_asked',
        target: `call:${callUuid}`,
        after: { status: call.status },
      }),
  });
  if (typeof applied === 'string') return 'unknown_call';
  return applied.change.effects.includes('hang_up') ? 'asked' : 'over';
}

/**
 * For a process that has no way to the carrier: the service that runs sees the row within a second and ends the call.
 */
export async function askForEnd(
  database: Database,
  request: { workspaceId: string; callUuid: string; by: ChangedBy },
): Promise<'asked' | 'over' | 'unknown_call'> {
  const { workspaceId, callUuid, by } = request;
  return database.transaction(async (tx) => {
    const known = await tx.query('SELECT 1 AS one FROM calls WHERE call_uuid = $1 AND workspace_id = $2', [
      callUuid,
      workspaceId,
    ]);
    if (known.length === 0) return 'unknown_call';
    const asked = await tx.query(
      `UPDATE calls SET end_asked_at = coalesce(end_asked_at, now()), deadline_at = now()
        WHERE call_uuid = $1 AND status IN ${ACTIVE} RETURNING 1 AS one`,
      [callUuid],
    );
    if (asked.length === 0) return 'over';
    await recordAudit(tx, { workspaceId, by, action: 'call.end_asked', target: `call:${callUuid}` });
    return 'asked';
  });
}
