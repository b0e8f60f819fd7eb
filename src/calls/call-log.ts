/** Appends to `call_events`. Inside the transaction of the change that it tells of; the caller publishes after the commit. */

import type { CallEvent } from '../api/call-event-bus.ts';
import type { Queryable } from '../store/database.ts';

export interface CallLogLine {
  kind: string;
  data: object;
  atEpochMs: number;
}

/** Writes the lines in order, in one statement, and returns them as stored. */
export async function appendCallLog(
  tx: Queryable,
  callUuid: string,
  lines: readonly CallLogLine[],
): Promise<CallEvent[]> {
  if (lines.length === 0) return [];
  const rows = await tx.query<{ id: string }>(
    `INSERT INTO call_events (call_uuid, at, kind, data)
     SELECT $1, line.at, line.kind, line.data
       FROM unnest($2::timestamptz[], $3::text[], $4::jsonb[]) WITH ORDINALITY AS line (at, kind, data, position)
      ORDER BY line.position
     RETURNING id`,
    [
      callUuid,
      lines.map((line) => new Date(line.atEpochMs)),
      lines.map((line) => line.kind),
      lines.map((line) => JSON.stringify(line.data)),
    ],
  );
  return lines.map((line, index) => ({
    id: String(rows[index]!.id),
    callUuid,
    at: new Date(line.atEpochMs),
    kind: line.kind,
    data: line.data as Record<string, unknown>,
  }));
}
