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

export interface CallNews {
  /** After the id that was asked for, in their order. */
  events: StoredEvent[];
  isOver: boolean;
  /** Nothing more will happen to it: recording, analysis and webhooks are done, and all of it is among the events. */
  isSettled: boolean;
}

/**
 * What is new of each call, after the id that it has got to; one that is gone is not in it. All at one moment. That the
 * calls are named twice is for the planner: it looks at the partitions of their days alone.
 */
export async function readNews(
  database: Queryable,
  afterIds: ReadonlyMap<string, string>,
): Promise<Map<string, CallNews>> {
  const rows = await database.query<
    Omit<CallNews, 'events'> & { callUuid: string; events: (Omit<StoredEvent, 'at'> & { at: string })[] }
  >(
    `SELECT c.call_uuid AS "callUuid", c.ended_at IS NOT NULL AS "isOver",
            CASE WHEN c.ended_at IS NULL THEN false
                 ELSE c.recording_status <> 'pending' AND c.analysis_status <> 'pending' AND NOT EXISTS (
                   SELECT 1 FROM webhook_deliveries d JOIN webhook_events e ON e.id = d.event_id
                   WHERE e.call_uuid = c.call_uuid AND d.state = 'pending') END AS "isSettled",
            coalesce((SELECT jsonb_agg(jsonb_build_object('id', e.id::text, 'at', e.at, 'kind', e.kind, 'data', e.data) ORDER BY e.id)
                        FROM call_events e
                       WHERE e.call_uuid = c.call_uuid AND e.call_uuid = ANY ($1::uuid[]) AND e.id > asked.after_id), '[]') AS events
       FROM unnest($1::uuid[], $2::bigint[]) AS asked (call_uuid, after_id) JOIN calls c ON c.call_uuid = asked.call_uuid`,
    [[...afterIds.keys()], [...afterIds.values()]],
  );
  return new Map(
    rows.map(({ callUuid, events, ...progress }) => [
      callUuid,
      { ...progress, events: events.map((event) => ({ ...event, at: new Date(event.at) })) },
    ]),
  );
}

/** The client was shown that event, and learns where to go on should its stream break off: no event comes of it. */
export function idText(id: string): string {
  return `id: ${id}\n\n`;
}

export function eventText(event: StoredEvent | CallEvent): string {
  const { id, kind, at, data } = event;
  const body = JSON.stringify({ at, kind, data });
  // JSON has no raw line breaks, so one `data:` line holds it.
  return `${id === null ? '' : `id: ${id}\n`}event: ${kind.replace(/[\r\n]/g, ' ')}\ndata: ${body}\n\n`;
}
