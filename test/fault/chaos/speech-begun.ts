/**
 * What the agent began to say, by the call's events: what a whole transcript is held against. Used by the scenarios and
 * by fault tests.
 */
import type { Database } from '../../../src/store/database.ts';

/** Ids of the agent's turns of which something was played, by call. */
export async function turnsBegun(
  database: Database,
  callUuids: readonly string[],
): Promise<ReadonlyMap<string, string[]>> {
  const events = await database.query<{ call_uuid: string; data: Record<string, unknown> }>(
    `SELECT call_uuid, data FROM call_events WHERE kind = 'speech' AND call_uuid = ANY ($1::uuid[])`,
    [callUuids],
  );
  const begun = new Map(callUuids.map((callUuid): [string, string[]] => [callUuid, []]));
  for (const { call_uuid, data } of events) {
    if (data['who'] === 'agent' && data['phase'] === 'start') begun.get(call_uuid)!.push(String(data['turnId']));
  }
  return begun;
}
