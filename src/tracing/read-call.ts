/** What a call's trace is made of, from the call log. Called once a call, after its end. */
import type { ModelRequestFacts, TurnLatency } from '../../media/contract/conversation.ts';
import { readOwnCall } from '../calls/call-row.ts';
import { readTurns } from '../calls/call-turns.ts';
import type { Queryable } from '../store/database.ts';
import type { CallFacts } from './call-spans.ts';

interface EventRow {
  kind: 'latency' | 'model_request' | 'tool';
  data: Record<string, unknown>;
}

const READ_EVENTS = `
  SELECT kind, data FROM call_events
   WHERE call_uuid = $1 AND (kind IN ('latency', 'model_request') OR (kind = 'tool' AND data ->> 'phase' = 'end'))
   ORDER BY id`;
/** The first stream: the transcript's times count from its begin. */
const READ_STREAM = 'SELECT min(stream_started_at) AS at FROM call_recordings WHERE call_uuid = $1';

/** Undefined: there is no such call, or it is not over. */
export async function readCallFacts(database: Queryable, callUuid: string): Promise<CallFacts | undefined> {
  const call = await readOwnCall(database, callUuid);
  if (call === undefined || call.endedAt === null) return undefined;
  const events = await database.query<EventRow>(READ_EVENTS, [callUuid]);
  const [stream] = await database.query<{ at: Date | null }>(READ_STREAM, [callUuid]);
  const startedAt = stream?.at ?? call.answeredAt;
  const of = (kind: EventRow['kind']) => events.filter((event) => event.kind === kind).map(({ data }) => data);
  // A message that came twice stands twice.
  const latencies = new Map(
    (of('latency') as { latency: TurnLatency }[]).map(({ latency }) => [latency.turnId, latency]),
  );
  const requests = new Map(
    (of('model_request') as { request: ModelRequestFacts }[]).map(({ request }) => [JSON.stringify(request), request]),
  );
  const tools = new Map((of('tool') as unknown as CallFacts['tools'][number][]).map((tool) => [tool.toolCallId, tool]));
  const { enterprise, agentId, agentVersion, channel, direction, carrier, status, endedReason } = call;
  return {
    ...{ callUuid, enterprise, agentId, agentVersion, channel, direction, carrier, status, endedReason },
    createdAtEpochMs: call.createdAt.getTime(),
    endedAtEpochMs: call.endedAt.getTime(),
    streamAtEpochMs: startedAt?.getTime() ?? null,
    turns: await readTurns(database, callUuid),
    latencies: [...latencies.values()],
    requests: [...requests.values()],
    tools: [...tools.values()],
  };
}
