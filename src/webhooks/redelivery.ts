/**
 * Sends again what was sent, failed or given up: one delivery, or all of a time, of some events or calls. The same
 * events under the same `webhook-id`, so that receivers which remember ids see no double. Called by the API and the
 * command line, which map `WebhookRefusal`; the caller dispatches them afterwards.
 */
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../media/contract/clock.ts';
import type { ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { Database, Queryable } from '../store/database.ts';
import { NEW_ROUND, NOT_UNDER_WAY } from './backlog.ts';
import { type DeliveryState, isInAnyOf } from './delivery-log.ts';
import { TEST_EVENT } from './events.ts';
import { recordWorkspaceEvent } from './outbox.ts';

/**
 * `not_set`: the workspace has no URL. `disabled`: it is off. `not_found`: no such delivery.
 * `body_gone`: older than 30 days.
 */
export type WebhookRefusalCode = 'not_set' | 'disabled' | 'not_found' | 'body_gone';

export class WebhookRefusal extends Error {
  readonly code: WebhookRefusalCode;

  constructor(code: WebhookRefusalCode) {
    super(`webhook: ${code}`);
    this.code = code;
  }
}

/** Events that one replay sends at most; the next begins at `nextFrom`. */
export const REPLAY_LIMIT = 10_000;

export interface ReplayFilter {
  /** When the event was written; from is part of it, to is not. */
  from?: Date | undefined;
  to?: Date | undefined;
  events?: readonly string[] | undefined;
  callUuids?: readonly string[] | undefined;
  /** Where deliveries stand now; absent: wherever. */
  states?: readonly DeliveryState[] | undefined;
}

export interface Replayed {
  /** Events that will be sent, the oldest first. */
  count: number;
  /** Some of their deliveries, to dispatch; the sweep finds the rest within 5 s. */
  deliveryIds: string[];
  /** More events match than one replay sends: repeat with `from` at this time. Null: that was all. */
  nextFrom: Date | null;
}

const RUNG_AT_ONCE = 200;

/** Whose events, and who asked. */
export interface Asked {
  workspaceId: string;
  by: ChangedBy;
}

/** Due now, with a whole schedule before it. What is under way at this moment stays as it is. */
export async function redeliver(db: Database, { workspaceId, by }: Asked, deliveryId: string): Promise<void> {
  await switchedOn(db, workspaceId);
  const [row] = await db.query<{ body: string }>(
    `SELECT v.body FROM webhook_deliveries AS d JOIN webhook_events AS v ON v.id = d.event_id
     WHERE d.id = $1 AND v.workspace_id = $2`,
    [deliveryId, workspaceId],
  );
  if (row === undefined) throw new WebhookRefusal('not_found');
  if (row.body === '') throw new WebhookRefusal('body_gone');
  await db.transaction(async (tx) => {
    await tx.query(`UPDATE webhook_deliveries AS d SET ${NEW_ROUND} WHERE d.id = $1 AND ${NOT_UNDER_WAY}`, [
      deliveryId,
    ]);
    await recordAudit(tx, { workspaceId, by, action: 'webhook.redelivered', target: `delivery:${deliveryId}` });
  });
}

/** Also sends events that were written before the workspace had a URL. Test events are not repeated. */
export async function replay(db: Database, { workspaceId, by }: Asked, filter: ReplayFilter): Promise<Replayed> {
  const endpointId = await switchedOn(db, workspaceId);
  const conditions = [`v.workspace_id = $1`, `v.body <> ''`, `v.event <> '${TEST_EVENT}'`];
  const parameters: unknown[] = [workspaceId, endpointId, REPLAY_LIMIT + 1];
  const add = (condition: (place: string) => string, value: unknown): void => {
    if (value === undefined) return;
    parameters.push(value);
    conditions.push(condition(`$${parameters.length}`));
  };
  add((place) => `v.created_at >= ${place}`, filter.from);
  add((place) => `v.created_at < ${place}`, filter.to);
  add((place) => `v.event = ANY (${place})`, filter.events);
  add((place) => `v.call_uuid = ANY (${place}::uuid[])`, filter.callUuids);
  if (filter.states !== undefined) conditions.push(isInAnyOf(filter.states));
  return await db.transaction(async (tx) => {
    // The same order of locks as whoever notes an attempt: endpoint, then deliveries.
    await tx.query('SELECT 1 FROM webhook_endpoints WHERE id = $1 FOR NO KEY UPDATE', [endpointId]);
    const found = await tx.query<{ eventId: string; deliveryId: string | null; writtenAt: Date }>(
      `SELECT v.id AS "eventId", d.id AS "deliveryId", v.created_at AS "writtenAt"
       FROM webhook_events AS v LEFT JOIN webhook_deliveries AS d ON d.event_id = v.id AND d.endpoint_id = $2
       WHERE ${conditions.join(' AND ')} ORDER BY v.created_at, v.id COLLATE "C" LIMIT $3`,
      parameters,
    );
    const taken = found.slice(0, REPLAY_LIMIT);
    const known = taken.flatMap(({ deliveryId }) => (deliveryId === null ? [] : [deliveryId]));
    await tx.query(`UPDATE webhook_deliveries AS d SET ${NEW_ROUND} WHERE d.id = ANY ($1) AND ${NOT_UNDER_WAY}`, [
      known,
    ]);
    const never = taken.filter(({ deliveryId }) => deliveryId === null).map(({ eventId }) => eventId);
    const made = await addDeliveries(tx, endpointId, never);
    const after = { filter, count: taken.length };
    await recordAudit(tx, { workspaceId, by, action: 'webhook.replayed', target: `webhook:${endpointId}`, after });
    return {
      count: taken.length,
      deliveryIds: [...known, ...made].slice(0, RUNG_AT_ONCE),
      nextFrom: found[REPLAY_LIMIT]?.writtenAt ?? null,
    };
  });
}

async function addDeliveries(tx: Queryable, endpointId: string, eventIds: readonly string[]): Promise<string[]> {
  if (eventIds.length === 0) return [];
  const rows = await tx.query<{ id: string }>(
    `INSERT INTO webhook_deliveries (id, event_id, endpoint_id, state, next_at, created_at)
     SELECT made.id, v.id, $1, 'pending', v.created_at, v.created_at
       FROM unnest($2::uuid[], $3::text[]) AS made (id, event_id) JOIN webhook_events AS v ON v.id = made.event_id
     ON CONFLICT (event_id, endpoint_id) DO NOTHING RETURNING id`,
    [endpointId, eventIds.map(() => uuidv7()), eventIds],
  );
  return rows.map(({ id }) => id);
}

/** One `webhook.test`, tried once. Returns its delivery's id. */
export async function sendTest(
  db: Database,
  { workspaceId, enterprise, by }: Asked & { enterprise: string },
  clock: Clock,
): Promise<string> {
  await switchedOn(db, workspaceId);
  return await db.transaction(async (tx) => {
    const [id] = await recordWorkspaceEvent(tx, { workspaceId, enterprise, event: TEST_EVENT, fields: {} }, clock);
    await recordAudit(tx, { workspaceId, by, action: 'webhook.tested', target: `delivery:${id}` });
    return id!;
  });
}

async function switchedOn(db: Queryable, workspaceId: string): Promise<string> {
  const [endpoint] = await db.query<{ id: string; disabledAt: Date | null }>(
    'SELECT id, disabled_at AS "disabledAt" FROM webhook_endpoints WHERE workspace_id = $1 AND removed_at IS NULL',
    [workspaceId],
  );
  if (endpoint === undefined) throw new WebhookRefusal('not_set');
  if (endpoint.disabledAt !== null) throw new WebhookRefusal('disabled');
  return endpoint.id;
}
