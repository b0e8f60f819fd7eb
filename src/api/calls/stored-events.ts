/** The rows of `call_events` that a client may read, and one of them as a server-sent event. */
import type { Queryable } from '../../store/database.ts';
import type { CallEvent } from '../call-event-bus.ts';

export interface StoredEvent {
  id: string;
  at: Date;
  kind: string;
  data: Record<string, unknown>;
}

export function readEvents(database: Queryable, callUuid: string, afterId: string): Promise<StoredEvent[]> {
  return database.query<StoredEvent>(
    'SELECT id::text AS id, at, kind, data FROM call_events WHERE call_uuid = $1 AND id > $2::bigint ORDER BY id',
    [callUuid, afterId],
  );
}

export function eventText(event: StoredEvent | CallEvent): string {
  const { id, kind, at, data } = event;
  const body = JSON.stringify({ at, kind, data });
  // JSON has no raw line breaks, so one `data:` line holds it.
  return `${id === null ? '' : `id: ${id}\n`}event: ${kind.replace(/[\r\n]/g, ' ')}\ndata: ${body}\n\n`;
}
