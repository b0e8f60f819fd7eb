/**
 * What a call makes of its lead: taken when it is dialled, given back when it turns out to be no call, settled in the
 * transaction of its terminal state. A lead that must not be contacted stays so, whatever a call brings.
 */

import type { EndedReason } from '../../media/contract/call-outcome.ts';
import { ACTIVE } from '../calls/active-statuses.ts';
import type { CallRecord } from '../calls/call-record.ts';
import type { Queryable } from '../store/database.ts';
import type { Write } from '../store/joint-write.ts';
import type { Consent } from './lead-fields.ts';
import type { LeadStatus } from './lead-store.ts';

export interface LockedLead {
  status: LeadStatus;
  timezone: string | null;
  consent: Consent | null;
  /** A call of it is not over. */
  active: boolean;
}

/**
 * Locks the row until the transaction ends, so that two calls of one lead follow each other. Undefined: no such lead.
 */
export async function lockLead(tx: Queryable, workspaceId: string, leadId: string): Promise<LockedLead | undefined> {
  const [lead] = await tx.query<LockedLead>(
    'SELECT status, timezone, consent FROM leads WHERE workspace_id = $1 AND id = $2 FOR UPDATE',
    [workspaceId, leadId],
  );
  if (lead === undefined) return undefined;
  // A statement of its own: it sees what the call before committed while we waited for the row.
  const ongoing = await tx.query(
    `SELECT 1 AS one FROM calls WHERE workspace_id = $1 AND lead_id = $2 AND status IN ${ACTIVE} LIMIT 1`,
    [workspaceId, leadId],
  );
  return { ...lead, active: ongoing.length > 0 };
}

export function takenLead(call: { workspaceId: string; leadId: string; callUuid: string }, now: Date): Write {
  return {
    sql: (place) =>
      `UPDATE leads SET before_call = jsonb_build_object('status', status, 'lastCallUuid', last_call_uuid), status = 'calling',
              call_count = call_count + 1, last_call_uuid = ${place(call.callUuid)}, updated_at = ${place(now)}
        WHERE workspace_id = ${place(call.workspaceId)} AND id = ${place(call.leadId)}`,
  };
}

/** The carrier throttled the attempt, so there was no call (contract §1): the lead is as it was before. */
export async function giveLeadBack(
  tx: Queryable,
  call: { workspaceId: string; leadId: string | null; callUuid: string },
): Promise<void> {
  if (call.leadId === null) return;
  await tx.query(
    `UPDATE leads SET status = CASE status WHEN 'calling' THEN before_call ->> 'status' ELSE status END,
                      last_call_uuid = (before_call ->> 'lastCallUuid')::uuid, call_count = call_count - 1, before_call = NULL
     WHERE workspace_id = $1 AND id = $2 AND last_call_uuid = $3 AND before_call IS NOT NULL`,
    [call.workspaceId, call.leadId, call.callUuid],
  );
}

/** Ends that were answered, but by nobody who could be spoken to. */
const NOBODY_REACHED: ReadonlySet<EndedReason | null> = new Set([
  'voicemail_detected',
  'voicemail_left',
  'ivr_reached',
]);

export function leadStatusAfter(call: Pick<CallRecord, 'status' | 'endedReason'>): LeadStatus {
  if (call.endedReason === 'opt_out_requested') return 'do_not_contact';
  if (call.status === 'completed') return NOBODY_REACHED.has(call.endedReason) ? 'no_answer' : 'contacted';
  return call.status === 'no_answer' ? 'no_answer' : 'failed';
}

/** Returns whether the lead changed: one that was deleted, called again or must not be contacted did not. */
export async function settleLead(tx: Queryable, call: CallRecord, now: Date): Promise<boolean> {
  if (call.leadId === null) return false;
  const rows = await tx.query(
    `UPDATE leads SET status = $4, updated_at = $5, before_call = NULL
     WHERE workspace_id = $1 AND id = $2 AND last_call_uuid = $3 AND status <> 'do_not_contact' RETURNING 1 AS one`,
    [call.workspaceId, call.leadId, call.callUuid, leadStatusAfter(call), now],
  );
  return rows.length > 0;
}

/** Every lead with this number. Returns the ids of those that were not so before. */
export async function markDoNotContact(
  tx: Queryable,
  workspaceId: string,
  phone: string,
  now: Date,
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `UPDATE leads SET status = 'do_not_contact', updated_at = $3
     WHERE workspace_id = $1 AND phone = $2 AND status <> 'do_not_contact' RETURNING id`,
    [workspaceId, phone, now],
  );
  return rows.map(({ id }) => id);
}
