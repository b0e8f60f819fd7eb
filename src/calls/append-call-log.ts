/**
 * Appends to `call_events`. Inside the transaction of the change that it tells of; the caller
 * publishes after the commit.
 */

import type { Queryable } from '../store/database.ts';
import type { CallEvent } from './call-event-bus.ts';

export interface CallLogLine {
  kind: string;
  data: object;
  atEpochMs: number;
}

/**
 * Writes the lines in order, in one statement, and returns them as stored. The call's row is locked before they get
 * their ids, so that of one call no event is ever seen after a later one: a reader that
 * remembers the last id misses none.
 */
export async function appendCallLog(
  tx: Queryable,
  callUuid: string,
  lines: readonly CallLogLine[],
): Promise<CallEvent[]> {
  if (lines.length === 0) return [];
  const rows = await tx.query<{ id: string }>(
    `WITH call AS MATERIALIZED (SELECT call_uuid FROM calls WHERE call_uuid = $1 FOR UPDATE)
     INSERT INTO call_events (call_uuid, at, kind, data)
     SELECT call.call_uuid, line.at, line.kind, line.data
       FROM call, unnest($2::timestamptz[], $3::text[], $4::jsonb[]) WITH ORDINALITY AS line (at, kind, data, position)
      ORDER BY line.position
     RETURNING id`,
    [
      callUuid,
      lines.map((line) => new Date(line.atEpochMs)),
      lines.map((line) => line.kind),
      lines.map((line) => JSON.stringify(line.data)),
    ],
  );
  if (rows.length < lines.length) throw new Error(`The call ${callUuid} is gone, and with it its log.`);
  return lines.map((line, index) => asEvent(callUuid, line, rows[index]!.id));
}

/** As it is told of. `id`: null, it is not stored. */
export function asEvent(callUuid: string, line: CallLogLine, id: string | null): CallEvent {
  const { kind, atEpochMs, data } = line;
  return {
    id: id === null ? null : String(id),
    callUuid,
    at: new Date(atEpochMs),
    kind,
    data: data as Record<string, unknown>,
  };
}
