/** The stored turns of a call, in the order in which they began. */
import type { Turn } from '../../media/contract/conversation.ts';
import type { Queryable } from '../store/database.ts';

export async function readTurns(database: Queryable, callUuid: string): Promise<Turn[]> {
  const rows = await database.query<{ turn: Turn }>(
    'SELECT turn FROM call_turns WHERE call_uuid = $1 ORDER BY position',
    [callUuid],
  );
  return rows.map((row) => row.turn);
}

/**
 * Of any calls whose rows are locked. A turn may be told again when more of it was heard: the last word counts. `t12`
 * stands at position 12.
 */
export async function storeTurns(tx: Queryable, told: readonly { callUuid: string; turn: Turn }[]): Promise<void> {
  if (told.length === 0) return;
  const last = [...new Map(told.map((one) => [`${one.callUuid} ${one.turn.turnId}`, one])).values()];
  await tx.query(
    `INSERT INTO call_turns (call_uuid, turn_id, position, turn)
     SELECT told.call_uuid, told.turn_id, told.position, told.turn
       FROM unnest($1::uuid[], $2::text[], $3::int[], $4::jsonb[]) AS told (call_uuid, turn_id, position, turn)
     ON CONFLICT (call_uuid, turn_id) DO UPDATE SET turn = EXCLUDED.turn`,
    [
      last.map(({ callUuid }) => callUuid),
      last.map(({ turn }) => turn.turnId),
      last.map(({ turn }) => Number(/\d+/.exec(turn.turnId)?.[0] ?? 0)),
      last.map(({ turn }) => JSON.stringify(turn)),
    ],
  );
}
