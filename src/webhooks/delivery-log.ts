/**
 * What became of each delivery, for clients and operators: a page of a workspace's, or one with its attempts. Called by
 * the API and the command line. Shows no body: what an event said is in the call log.
 */
import type { Queryable } from '../store/database.ts';

/**
 * `pending`: waits for its first attempt. `failed`: at least one attempt failed, and another comes. `delivered`: a 2xx
 * came in time. `dead`: given up; kept 30 days and can be sent again.
 */
export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'dead'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface DeliveryEntry {
  id: string;
  /** `webhook-id` of every attempt. */
  eventId: string;
  event: string;
  callUuid: string | null;
  sequence: number;
  state: DeliveryState;
  /** Over all rounds, as `X-Delivery-Attempt` counts them. */
  attempts: number;
  /** Null when nothing more will be sent. */
  nextAttemptAt: Date | null;
  lastAttemptAt: Date | null;
  /** Null when the last attempt got no answer, or none was made. */
  lastStatus: number | null;
  lastError: string | null;
  deliveredAt: Date | null;
  createdAt: Date;
}

export interface LoggedAttempt {
  /** ISO 8601, UTC: when it ended. */
  at: string;
  attempt: number;
  status: number | null;
  error: string | null;
  /** From the look-up of the name to the answer. */
  ms: number;
}

export interface DeliveryDetail extends DeliveryEntry {
  /** The newest 24, oldest first. */
  attemptLog: LoggedAttempt[];
}

export interface DeliveryFilter {
  /** Of each: any of these. */
  callUuid?: readonly string[] | undefined;
  event?: readonly string[] | undefined;
  state?: readonly DeliveryState[] | undefined;
}

/** Newest first. `after`: the id of the last one of the page before. */
export async function listDeliveries(
  db: Queryable,
  workspaceId: string,
  filter: DeliveryFilter,
  page: { limit: number; after: string | null },
): Promise<DeliveryEntry[]> {
  const parameters: unknown[] = [workspaceId, page.limit];
  const conditions = ['e.workspace_id = $1'];
  const add = (condition: (place: string) => string, value: unknown): void => {
    parameters.push(value);
    conditions.push(condition(`$${parameters.length}`));
  };
  if (page.after !== null) add((place) => `d.id < ${place}`, page.after);
  if (filter.callUuid !== undefined) add((place) => `v.call_uuid = ANY (${place}::uuid[])`, filter.callUuid);
  if (filter.event !== undefined) add((place) => `v.event = ANY (${place}::text[])`, filter.event);
  if (filter.state !== undefined) conditions.push(isInAnyOf(filter.state));
  return await db.query<DeliveryEntry>(
    `SELECT ${COLUMNS} ${FROM} WHERE ${conditions.join(' AND ')} ORDER BY d.id DESC LIMIT $2`,
    parameters,
  );
}

/** Null when the workspace has none of this id. */
export async function readDelivery(db: Queryable, workspaceId: string, id: string): Promise<DeliveryDetail | null> {
  const rows = await db.query<DeliveryDetail>(
    `SELECT ${COLUMNS}, d.attempt_log AS "attemptLog" ${FROM} WHERE e.workspace_id = $1 AND d.id = $2`,
    [workspaceId, id],
  );
  return rows[0] ?? null;
}

/** SQL over `webhook_deliveries AS d` for each state that a client may name. */
const CONDITION_OF: Readonly<Record<DeliveryState, string>> = {
  pending: `(d.state = 'pending' AND d.attempts = 0)`,
  failed: `(d.state = 'pending' AND d.attempts > 0)`,
  delivered: `d.state = 'delivered'`,
  dead: `d.state = 'dead'`,
};

/** The same for any of several states. */
export const isInAnyOf = (states: readonly DeliveryState[]): string =>
  `(${states.map((state) => CONDITION_OF[state]).join(' OR ')})`;

const FROM = `FROM webhook_deliveries AS d JOIN webhook_endpoints AS e ON e.id = d.endpoint_id
  JOIN webhook_events AS v ON v.id = d.event_id`;
const COLUMNS = `d.id, d.event_id AS "eventId", v.event, v.call_uuid AS "callUuid", v.sequence,
  CASE WHEN d.state = 'pending' AND d.attempts > 0 THEN 'failed' ELSE d.state END AS state,
  d.earlier_attempts + d.attempts AS attempts,
  CASE WHEN d.state = 'pending' AND e.disabled_at IS NULL THEN d.next_at END AS "nextAttemptAt",
  d.last_attempt_at AS "lastAttemptAt", d.last_status AS "lastStatus", d.last_error AS "lastError",
  d.delivered_at AS "deliveredAt", d.created_at AS "createdAt"`;
