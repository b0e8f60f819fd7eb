/**
 * What everybody saw of a run: the client that placed calls, the database, the webhook receiver, the carrier with its phones. Gathered at
 * the end; `history-checker.ts` judges it and sees nothing else.
 */
import type { Database } from '../../src/store/database.ts';
import type { ReceivedWebhook } from '../demo/webhook-receiver.ts';
import type { EmulatedCall } from '../harness/emulator-process.ts';

/** Of one thing that the client wanted, tried with one idempotency key until there was an answer. */
export interface PlacementSeen {
  number: string;
  /** The last answer's; null: none ever came. */
  httpStatus: number | null;
  callUuid: string | null;
  tries: number;
}

export interface CallRow {
  callUuid: string;
  number: string;
  status: string;
  endedReason: string | null;
  answered: boolean;
  /** States in the order in which the call's log has them, the first one included. */
  states: string[];
  /** Streams that the carrier was asked to open anew. */
  reopened: number;
}

export interface StoredEvent {
  id: string;
  callUuid: string;
  event: string;
  sequence: number;
  /** Of its delivery. */
  state: string;
  attempts: number;
}

export interface ReceivedEvent {
  id: string;
  callUuid: string;
  event: string;
  sequence: number;
  verified: boolean;
  /** The whole body, to compare repetitions with. */
  body: string;
}

/** One call at the carrier. */
export interface PhoneSeen {
  number: string;
  answered: boolean;
  isOver: boolean;
  streams: { openedAtEpochMs: number; closedAtEpochMs: number | null }[];
}

export interface History {
  placements: readonly PlacementSeen[];
  calls: readonly CallRow[];
  /** As the database has them. */
  events: readonly StoredEvent[];
  /** As they came in, in order. */
  received: readonly ReceivedEvent[];
  phones: readonly PhoneSeen[];
}

export interface HistorySources {
  database: Database;
  placements: readonly PlacementSeen[];
  received: readonly ReceivedWebhook[];
  emulated: readonly EmulatedCall[];
}

/** The calls to the placements' numbers, and all that hangs on them. */
export async function gatherHistory(sources: HistorySources): Promise<History> {
  const { database, placements } = sources;
  const numbers = placements.map(({ number }) => number);
  const isOurs = new Set(numbers);
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
  const events = await database.query<StoredEvent>(
    `SELECT e.id, e.call_uuid AS "callUuid", e.event, e.sequence, d.state, d.attempts
       FROM webhook_events e JOIN webhook_deliveries d ON d.event_id = e.id JOIN calls c ON c.call_uuid = e.call_uuid
      WHERE c.to_number = ANY ($1)`,
    [numbers],
  );
  return {
    placements,
    calls,
    events,
    received: sources.received
      .filter(({ body }) => isOurs.has(String(body['to'])))
      .map(({ verified, event, callUuid, body }) => ({
        id: String(body['id']),
        callUuid,
        event,
        sequence: Number(body['sequence']),
        verified,
        body: JSON.stringify(body),
      })),
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
