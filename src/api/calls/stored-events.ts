/** The rows of `call_events` that a client may read, of one call or of many, and one of them as a server-sent event. */

import type { CallEvent } from '../../calls/call-event-bus.ts';
import type { Queryable } from '../../store/database.ts';

export interface StoredEvent {
  id: string;
  at: Date;
  kind: string;
  data: Record<string, unknown>;
}

export function readEvents(database: Queryable, callUuid: string, afterId: string): Promise<StoredEvent[]> {
  // `id` alone would name the text of the answer, in which 10 comes before 9.
  return database.query<StoredEvent>(
    `SELECT e.id::text AS id, e.at, e.kind, e.data FROM call_events e
      WHERE e.call_uuid = $1 AND e.id > $2::bigint ORDER BY e.id`,
    [callUuid, afterId],
  );
}

/** After the id that each call has got to. */
export async function readNewEvents(
  database: Queryable,
  afterIds: ReadonlyMap<string, string>,
): Promise<Map<string, StoredEvent[]>> {
  const rows = await database.query<StoredEvent & { callUuid: string }>(
    `SELECT e.call_uuid AS "callUuid", e.id::text AS id, e.at, e.kind, e.data
       FROM unnest($1::uuid[], $2::bigint[]) AS asked (call_uuid, after_id)
       JOIN call_events e ON e.call_uuid = asked.call_uuid AND e.id > asked.after_id
      ORDER BY e.id`,
    [[...afterIds.keys()], [...afterIds.values()]],
  );
  const byCall = new Map<string, StoredEvent[]>();
  for (const row of rows) {
    const events = byCall.get(row.callUuid);
    if (events === undefined) byCall.set(row.callUuid, [row]);
    else events.push(row);
  }
  return byCall;
}

export interface CallProgress {
  isOver: boolean;
  /** Nothing more will happen to it: recording, analysis and webhooks are done. */
  isSettled: boolean;
}

/** By call; one that is gone is not in it. */
export async function readProgress(
  database: Queryable,
  callUuids: readonly string[],
): Promise<Map<string, CallProgress>> {
  const rows = await database.query<CallProgress & { callUuid: string }>(
    `SELECT c.call_uuid AS "callUuid", c.ended_at IS NOT NULL AS "isOver",
            CASE WHEN c.ended_at IS NULL THEN false
                 ELSE c.recording_status <> 'pending' AND c.analysis_status <> 'pending' AND NOT EXISTS (
                   SELECT 1 FROM webhook_deliveries d JOIN webhook_events e ON e.id = d.event_id
                   WHERE e.call_uuid = c.call_uuid AND d.state = 'pending') END AS "isSettled"
       FROM calls c WHERE c.call_uuid = ANY ($1::uuid[])`,
    [callUuids],
  );
  return new Map(rows.map((row) => [row.callUuid, row]));
}

export function eventText(event: StoredEvent | CallEvent): string {
  const { id, kind, at, data } = event;
  const body = JSON.stringify({ at, kind, data });
  // JSON has no raw line breaks, so one `data:` line holds it.
  return `${id === null ? '' : `id: ${id}\n`}event: ${kind.replace(/[\r\n]/g, ' ')}\ndata: ${body}\n\n`;
}
