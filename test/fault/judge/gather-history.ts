/** Reads what a run left in the database, at the receiver and at the carrier. Called by the scenarios at their end. */
import type { ReceivedWebhook } from '../../../bench/demo/webhook-receiver.ts';
import type { EmulatedCall } from '../../../bench/harness/emulator-process.ts';
import type { Database } from '../../../src/store/database.ts';
import type { CallRow, History, PlacementSeen, StoredEvent } from './history.ts';

export interface HistorySources {
  database: Database;
  placements: readonly PlacementSeen[];
  received: readonly ReceivedWebhook[];
  emulated: readonly EmulatedCall[];
}

/**
 * The calls to the placements' numbers, and all that hangs on them. The receiver must have asked for no event beyond
 * the usual ones.
 */
export async function gatherHistory(sources: HistorySources): Promise<History> {
  const { database, placements } = sources;
  const numbers = placements.map(({ number }) => number);
  const isOurs = new Set(numbers);
  // Before the rows are read: what arrives meanwhile may be of a row that comes after them.
  const received = sources.received
    .filter(({ body }) => isOurs.has(String(body['to'])))
    .map(({ id, text, verified, attempt }) => ({ id, body: text, verified, attempt, answered: 200 }));
  const calls = await database.query<CallRow>(
    `SELECT c.call_uuid AS "callUuid", c.to_number AS number, c.status, c.ended_reason AS "endedReason",
            c.answered_at IS NOT NULL AS answered,
            ARRAY(SELECT e.data ->> 'status' FROM call_events e
                   WHERE e.call_uuid = c.call_uuid AND e.kind = 'status' ORDER BY e.id) AS states,
            (SELECT count(*)::int FROM call_events e
              WHERE e.call_uuid = c.call_uuid AND e.kind = 'stream.reopened') AS reopened
       FROM calls c WHERE c.to_number = ANY ($1)`,
    [numbers],
  );
  const ids = calls.map(({ callUuid }) => callUuid);
  return {
    placements,
    told: new Set(
      placements.flatMap(({ httpStatus, callUuid }) => (httpStatus === 200 && callUuid !== null ? [callUuid] : [])),
    ),
    asked: new Set(),
    calls,
    events: await readStoredEvents(database, ids),
    received,
    phones: sources.emulated
      .map((call) => ({
        number: `+${call.to.replace(/^\+/, '')}`,
        answered: call.answeredAtEpochMs !== null,
        isOver: call.hungUpAtEpochMs !== null,
        streams: call.streams,
      }))
      .filter(({ number }) => isOurs.has(number)),
  };
}

/** The events of these calls, with what became of their deliveries; one that nobody is to get is there too. */
export function readStoredEvents(database: Database, callUuids: readonly string[]): Promise<StoredEvent[]> {
  return database.query<StoredEvent>(
    `SELECT e.id, e.call_uuid AS "callUuid", e.event, e.sequence, e.body, coalesce(d.state, 'owed to nobody') AS state
       FROM webhook_events e LEFT JOIN webhook_deliveries d ON d.event_id = e.id
      WHERE e.call_uuid = ANY ($1::uuid[])`,
    [callUuids],
  );
}
