/**
 * What running calls tell, written in one statement for all of them: lines of their logs, turns, checkpoints. Their
 * rows are locked already. Called by `src/media-link/live-batch.ts`.
 */
import type { Turn } from '../../media/contract/conversation.ts';
import type { Queryable } from '../store/database.ts';
import { asStored, type CallLogLine } from './append-call-log.ts';
import type { CallEvent } from './call-event-bus.ts';
import type { CallRow } from './call-row.ts';

export interface Talk {
  /** Of each call in its order. */
  lines: readonly (CallLogLine & { callUuid: string })[];
  /** One may be told again when more of it was heard: the last word counts. `t12` stands at position 12. */
  turns: readonly { callUuid: string; turn: Turn }[];
  /** One of a call. */
  checkpoints: readonly { callUuid: string; checkpoint: CallRow['checkpoint'] }[];
}

const WRITE = `
  WITH turns AS (
    INSERT INTO call_turns (call_uuid, turn_id, position, turn)
    SELECT told.call_uuid, told.turn_id, told.position, told.turn
      FROM unnest($5::uuid[], $6::text[], $7::int[], $8::jsonb[]) AS told (call_uuid, turn_id, position, turn)
    ON CONFLICT (call_uuid, turn_id) DO UPDATE SET turn = EXCLUDED.turn),
  checkpoints AS (
    UPDATE calls c SET checkpoint = told.checkpoint
      FROM unnest($9::uuid[], $10::jsonb[]) AS told (call_uuid, checkpoint) WHERE c.call_uuid = told.call_uuid)
  INSERT INTO call_events (call_uuid, at, kind, data)
  SELECT line.call_uuid, line.at, line.kind, line.data
    FROM unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::jsonb[])
         WITH ORDINALITY AS line (call_uuid, at, kind, data, position)
   ORDER BY line.position
  RETURNING id`;

/** Returns the lines as stored. */
export async function writeTalk(tx: Queryable, { lines, turns, checkpoints }: Talk): Promise<CallEvent[]> {
  if (lines.length + turns.length + checkpoints.length === 0) return [];
  const last = [...new Map(turns.map((one) => [`${one.callUuid} ${one.turn.turnId}`, one])).values()];
  const rows = await tx.query<{ id: string }>(WRITE, [
    lines.map(({ callUuid }) => callUuid),
    lines.map(({ atEpochMs }) => new Date(atEpochMs)),
    lines.map(({ kind }) => kind),
    lines.map(({ data }) => JSON.stringify(data)),
    last.map(({ callUuid }) => callUuid),
    last.map(({ turn }) => turn.turnId),
    last.map(({ turn }) => Number(/\d+/.exec(turn.turnId)?.[0] ?? 0)),
    last.map(({ turn }) => JSON.stringify(turn)),
    checkpoints.map(({ callUuid }) => callUuid),
    checkpoints.map(({ checkpoint }) => JSON.stringify(checkpoint)),
  ]);
  return lines.map((line, index) => asStored(line.callUuid, line, rows[index]!.id));
}
