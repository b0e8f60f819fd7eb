/**
 * Writes an event and its delivery inside the transaction of the change that it reports, so that one cannot exist
 * without the other. Called by whatever has events; after the commit the caller dispatches the ids. Must not send.
 */
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../media/contract/clock.ts';
import type { Turn } from '../../media/contract/conversation.ts';
import type { CallRecord } from '../calls/call-record.ts';
import type { Queryable } from '../store/database.ts';
import { buildEventBody, buildWorkspaceEventBody } from './event-body.ts';
import { createEventId } from './event-id.ts';
import { type CallEventName, isOptIn, type WorkspaceEventName } from './events.ts';
import { bodyText } from './payload-limit.ts';
import { transcriptOf } from './transcript.ts';
import { rememberWritten } from './written.ts';

/** Starts deliveries. A loss of what was dispatched loses nothing: the sweep finds the row. */
export interface WebhookDispatcher {
  /** Never throws and never waits; call it after the commit. */
  dispatch(deliveryIds: readonly string[]): void;
}

/**
 * `call` is the row after the change; `extra` goes into the body over what is derived from the row (`quality`,
 * `sipReason`, `recording`, …). Takes the call's next sequence under its row lock; the transcript is that of
 * `call_turns` as this transaction sees it. Returns delivery ids: none when the workspace has no URL (the event is
 * stored all the same), and none for an opt-in event that nobody asked for (it is not stored, so that the sequence has
 * no gaps). A second terminal event of a call violates an index and so fails the transaction.
 */
export async function recordCallEvent(
  tx: Queryable,
  call: CallRecord,
  event: CallEventName,
  extra: Readonly<Record<string, unknown>>,
  clock: Clock,
): Promise<string[]> {
  if (isOptIn(event) && !(await isWanted(tx, call.workspaceId, event))) return [];
  const [taken] = await tx.query<{ sequence: number; turns: Turn[] }>(
    `UPDATE calls SET next_sequence = next_sequence + 1 WHERE call_uuid = $1 AND workspace_id = $2
     RETURNING next_sequence - 1 AS sequence,
       (SELECT coalesce(jsonb_agg(t.turn ORDER BY t.position), '[]') FROM call_turns t WHERE t.call_uuid = $1) AS turns`,
    [call.callUuid, call.workspaceId],
  );
  if (taken === undefined) throw new Error(`No call ${call.callUuid} in its workspace to record ${event} for`);
  const { sequence, turns } = taken;
  const id = createEventId();
  const nowEpochMs = clock.epochMs();
  const body = buildEventBody(call, {
    event,
    id,
    timestampEpochMs: nowEpochMs,
    sequence,
    transcript: transcriptOf(turns),
    turnCount: turns.length,
    extra,
  });
  const { workspaceId, callUuid } = call;
  return await write(tx, { id, workspaceId, callUuid, event, sequence, body: bodyText(body), nowEpochMs });
}

export interface WorkspaceEvent {
  workspaceId: string;
  /** The workspace's slug. */
  enterprise: string;
  event: WorkspaceEventName;
  /** What the body adds to the keys that every event has. */
  fields: Readonly<Record<string, unknown>>;
}

/** An event of no call, such as `lead.updated`. Returns delivery ids: none when nobody asked for it. */
export async function recordWorkspaceEvent(tx: Queryable, told: WorkspaceEvent, clock: Clock): Promise<string[]> {
  const { workspaceId, enterprise, event, fields } = told;
  if (isOptIn(event) && !(await isWanted(tx, workspaceId, event))) return [];
  const id = createEventId();
  const nowEpochMs = clock.epochMs();
  const body = buildWorkspaceEventBody({ event, id, timestampEpochMs: nowEpochMs, enterprise, fields });
  return await write(tx, { id, workspaceId, callUuid: null, event, sequence: 1, body: bodyText(body), nowEpochMs });
}

async function isWanted(tx: Queryable, workspaceId: string, event: string): Promise<boolean> {
  const sql = 'SELECT 1 AS one FROM webhook_endpoints WHERE workspace_id = $1 AND $2 = ANY (events)';
  return (await tx.query(sql, [workspaceId, event])).length > 0;
}

interface EventRow {
  id: string;
  workspaceId: string;
  callUuid: string | null;
  event: string;
  sequence: number;
  body: string;
  nowEpochMs: number;
}

/** The event and what is to be delivered of it, in one statement. */
async function write(tx: Queryable, row: EventRow): Promise<string[]> {
  const deliveries = await tx.query<{ id: string; endpointId: string }>(
    `WITH event AS (
       INSERT INTO webhook_events (id, workspace_id, call_uuid, event, sequence, body, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7))
     INSERT INTO webhook_deliveries (id, event_id, endpoint_id, state, next_at, created_at)
     SELECT $8, $1, e.id, 'pending', $7, $7
       FROM webhook_endpoints e JOIN workspaces w ON w.id = e.workspace_id LEFT JOIN calls c ON c.call_uuid = $3
      WHERE e.workspace_id = $2 AND e.removed_at IS NULL AND (w.web_webhooks OR c.channel IS DISTINCT FROM 'web')
     RETURNING id, endpoint_id AS "endpointId"`,
    [row.id, row.workspaceId, row.callUuid, row.event, row.sequence, row.body, new Date(row.nowEpochMs), uuidv7()],
  );
  for (const { id, endpointId } of deliveries) rememberWritten(id, { endpointId, callUuid: row.callUuid });
  return deliveries.map(({ id }) => id);
}
