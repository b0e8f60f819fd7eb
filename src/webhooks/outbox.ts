/**
 * Writes an event and its delivery inside the transaction of the change that it reports, so that one cannot exist
 * without the other. Called by whatever has events; after the commit the caller dispatches the ids. Must not send.
 */
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../media/contract/clock.ts';
import type { Turn } from '../../media/contract/conversation.ts';
import type { CallChange } from '../calls/call-change.ts';
import type { CallRecord } from '../calls/call-record.ts';
import type { Queryable } from '../store/database.ts';
import { type Write, writeTogether } from '../store/joint-write.ts';
import { CLAIM_MS } from './claim-time.ts';
import { knownHealthySql } from './endpoint-health.ts';
import { buildEventBody, buildWorkspaceEventBody } from './event-body.ts';
import { createEventId } from './event-id.ts';
import { type CallEventName, isOptIn, type WorkspaceEventName } from './events.ts';
import { bodyText } from './payload-limit.ts';
import { transcriptOf } from './transcript.ts';
import { rememberWritten, startsFirstAttempts } from './written.ts';

/** Starts deliveries. A loss of what was dispatched loses nothing: the sweep finds the row. */
export interface WebhookDispatcher {
  /** Never throws and never waits; call it after the commit. */
  dispatch(deliveryIds: readonly string[]): void;
}

/** What an event says beyond what is derived from its call's row. */
export interface ToldOfCall {
  event: CallEventName;
  /** Goes into the body over all else (`quality`, `sipReason`, `recording`, …). */
  extra?: Readonly<Record<string, unknown>>;
  /** Of the call, as the transaction sees them; asked for only where the event is told. */
  turns(): Promise<readonly Turn[]>;
}

/**
 * Adds an event to the change of a locked call, told of the row as it stands then: the call's next sequence, and a
 * delivery where the workspace has a URL (the event is stored all the same). Nothing of an opt-in event that nobody
 * asked for, so that the sequence has no gaps. A second terminal event of a call violates an index and so fails the
 * transaction.
 */
export async function tellOfCall(change: CallChange, told: ToldOfCall, clock: Clock): Promise<void> {
  const { call } = change;
  if (isOptIn(told.event) && !call.optInEvents.includes(told.event)) return;
  const row = rowOf(call, told, { sequence: call.nextSequence, turns: await told.turns(), clock });
  change.set({ nextSequence: row.sequence + 1 });
  change.also(
    eventWrite(row),
    deliveryWrite(row, (ids) => change.deliveryIds.push(...ids)),
  );
}

function rowOf(
  call: CallRecord,
  { event, extra = {} }: Pick<ToldOfCall, 'event' | 'extra'>,
  { sequence, turns, clock }: { sequence: number; turns: readonly Turn[]; clock: Clock },
): EventRow {
  const id = createEventId();
  const nowEpochMs = clock.epochMs();
  const body = buildEventBody(call, {
    event,
    id,
    timestampEpochMs: nowEpochMs,
    sequence,
    transcript: transcriptOf(turns),
    turnCount: turns.length,
    extra,
  });
  const { workspaceId, callUuid } = call;
  return { id, workspaceId, callUuid, event, sequence, body: bodyText(body), nowEpochMs };
}

export interface WorkspaceEvent {
  workspaceId: string;
  /** The workspace's slug. */
  enterprise: string;
  event: WorkspaceEventName;
  /** What the body adds to the keys that every event has. */
  fields: Readonly<Record<string, unknown>>;
}

/** An event of no call, such as `lead.updated`. Returns delivery ids: none when nobody asked for it. */
export async function recordWorkspaceEvent(tx: Queryable, told: WorkspaceEvent, clock: Clock): Promise<string[]> {
  const { workspaceId, enterprise, event, fields } = told;
  if (isOptIn(event) && !(await isWanted(tx, workspaceId, event))) return [];
  const id = createEventId();
  const nowEpochMs = clock.epochMs();
  const body = buildWorkspaceEventBody({ event, id, timestampEpochMs: nowEpochMs, enterprise, fields });
  return await write(tx, { id, workspaceId, callUuid: null, event, sequence: 1, body: bodyText(body), nowEpochMs });
}

async function isWanted(tx: Queryable, workspaceId: string, event: string): Promise<boolean> {
  const sql = 'SELECT 1 AS one FROM webhook_endpoints WHERE workspace_id = $1 AND $2 = ANY (events)';
  return (await tx.query(sql, [workspaceId, event])).length > 0;
}

interface EventRow {
  id: string;
  workspaceId: string;
  callUuid: string | null;
  event: string;
  sequence: number;
  body: string;
  nowEpochMs: number;
}

/** The event and what is to be delivered of it. */
async function write(tx: Queryable, row: EventRow): Promise<string[]> {
  const ids: string[] = [];
  await writeTogether(tx, [eventWrite(row), deliveryWrite(row, (made) => ids.push(...made))]);
  return ids;
}

function eventWrite({ id, workspaceId, callUuid, event, sequence, body, nowEpochMs }: EventRow): Write {
  const values = [id, workspaceId, callUuid, event, sequence, body, new Date(nowEpochMs)];
  return {
    sql: (place) =>
      `INSERT INTO webhook_events (id, workspace_id, call_uuid, event, sequence, body, created_at)
       VALUES (${values.map(place).join(', ')})`,
  };
}

/** `made` gets the ids: none when the workspace has no URL. */
function deliveryWrite(row: EventRow, made: (ids: readonly string[]) => void): Write {
  const { callUuid, workspaceId } = row;
  const createdAt = new Date(row.nowEpochMs);
  const starts = callUuid === null ? null : startsFirstAttempts();
  const until = starts === null ? null : new Date(row.nowEpochMs + CLAIM_MS);
  let at = '';
  return {
    sql(place) {
      at = `${place(createdAt)}::timestamptz`;
      const call = `${place(callUuid)}::uuid`;
      return `INSERT INTO webhook_deliveries (id, event_id, endpoint_id, state, next_at, created_at, claimed_until)
       SELECT ${place(uuidv7())}::uuid, ${place(row.id)}::text, e.id, 'pending', ${at}, ${at},
              CASE WHEN e.disabled_at IS NULL AND e.id <> ALL (${place(starts?.except ?? [])}::uuid[])
                        AND NOT EXISTS (${firstsOf(call)}) THEN ${place(until)}::timestamptz END
         FROM webhook_endpoints e JOIN workspaces w ON w.id = e.workspace_id LEFT JOIN calls c ON c.call_uuid = ${call}
        WHERE e.workspace_id = ${place(workspaceId)}::uuid AND e.removed_at IS NULL
          AND (w.web_webhooks OR c.channel IS DISTINCT FROM 'web')
       RETURNING id, endpoint_id, claimed_until`;
    },
    returns: {
      get value() {
        return `coalesce(jsonb_agg(jsonb_build_object('id', id, 'endpointId', endpoint_id, 'receiver',
          CASE WHEN claimed_until IS NOT NULL THEN (${receiverOf(at)}) END)), '[]')`;
      },
      to(deliveries) {
        for (const { id, endpointId, receiver } of deliveries as MadeDelivery[]) {
          const { id: eventId, event, body } = row;
          const claim =
            receiver === null ? null : { ...receiverFacts(receiver), createdAt, eventId, event, body, workspaceId };
          rememberWritten(id, { endpointId, callUuid, claimedUntil: claim && until }, claim);
          made([id]);
        }
      },
    },
  };
}

/** Events of the call that go first to the same receiver, and were not tried yet. */
const firstsOf = (call: string): string => `
  SELECT 1 FROM webhook_events AS earlier JOIN webhook_deliveries AS first ON first.event_id = earlier.id
   WHERE earlier.call_uuid = ${call} AND first.endpoint_id = e.id AND first.state = 'pending' AND first.attempts = 0`;

interface MadeDelivery {
  id: string;
  endpointId: string;
  /** Null: it is not claimed. */
  receiver: { url: string; knownHealthy: boolean; secret: string; previousSecret: string | null } | null;
}

const receiverOf = (at: string): string => `
  SELECT jsonb_build_object('url', e.url, 'knownHealthy', (${knownHealthySql(at)}), 'secret', encode(e.secret_sealed, 'hex'),
         'previousSecret', CASE WHEN e.previous_until > ${at} THEN encode(e.previous_secret_sealed, 'hex') END)
    FROM webhook_endpoints AS e WHERE e.id = endpoint_id`;

function receiverFacts({ url, knownHealthy, secret, previousSecret }: NonNullable<MadeDelivery['receiver']>) {
  return {
    url,
    knownHealthy,
    secretSealed: Buffer.from(secret, 'hex'),
    previousSecretSealed: previousSecret === null ? null : Buffer.from(previousSecret, 'hex'),
  };
}
