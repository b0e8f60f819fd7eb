/**
 * Writes properties of a locked call and the lines of its log that tell of them, in one statement. Used by all that
 * changes calls; what is written without a line, or told without a change, has `call-row.ts` and `append-call-log.ts`.
 */
import type { Queryable } from '../store/database.ts';
import { appendCallLog, asStored, type CallLogLine } from './append-call-log.ts';
import type { CallEvent } from './call-event-bus.ts';
import { assignmentsOf, type CallPatch, patchCall } from './call-row.ts';

/** Returns the lines as stored, in their order. */
export async function changeCall(
  tx: Queryable,
  callUuid: string,
  patch: CallPatch,
  lines: readonly CallLogLine[],
): Promise<CallEvent[]> {
  const { assignments, values } = assignmentsOf(patch, 5);
  if (assignments.length === 0) return appendCallLog(tx, callUuid, lines);
  if (lines.length === 0) {
    await patchCall(tx, callUuid, patch);
    return [];
  }
  const rows = await tx.query<{ id: string }>(
    `WITH call AS (UPDATE calls SET ${assignments.join(', ')} WHERE call_uuid = $1 RETURNING call_uuid)
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
      ...values,
    ],
  );
  if (rows.length < lines.length) throw new Error(`The call ${callUuid} is gone, and with it its log.`);
  return lines.map((line, index) => asStored(callUuid, line, rows[index]!.id));
}
