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
