/**
 * How a workspace's calls went on one day of a zone, and what it lacks before it can call at all. Reads only; for the
 * console's first page.
 */
import { ACTIVE } from '../calls/active-statuses.ts';
import type { Queryable } from '../store/database.ts';

export interface DayCalls {
  /** Now, whatever the day. */
  live: number;
  placed: number;
  answered: number;
  /** Of those that were answered, those that ended as they should. */
  completed: number;
  failed: number;
  noAnswer: number;
  /** Of those that are over; null: none is. */
  answerRate: number | null;
  completionRate: number | null;
  /** Over the calls' own medians; null: none was measured. */
  replyMs: { p50: number; p95: number; count: number } | null;
  /** Of calls that failed or had no answer without ringing anywhere; one whose process was lost may have rung. */
  reasons: { reason: string; count: number; since: Date; last: Date }[];
}

export interface WebhooksBehind {
  waiting: number;
  /** The oldest event that waits. */
  oldestAt: Date | null;
  failingSince: Date | null;
  url: string;
  enabled: boolean;
}

export interface NotSetUp {
  what: 'agent' | 'line' | 'api_access' | 'key' | 'webhook';
  why: string;
  wayOut: string;
}

const DAY_MS = 86_400_000;

/** The instants at which a day of a zone begins and ends. Throws for a zone that PostgreSQL does not know. */
export async function boundsOf(
  database: Queryable,
  { day, zone }: { day: string; zone: string },
): Promise<{ from: Date; until: Date }> {
  const [row] = await database.query<{ from: Date; until: Date }>(
    `SELECT ($1::date)::timestamp AT TIME ZONE $2 AS "from", ($1::date + 1)::timestamp AT TIME ZONE $2 AS until`,
    [day, zone],
  );
  return row!;
}

export async function readDayCalls(
  database: Queryable,
  of: { workspaceId: string; from: Date; until: Date },
): Promise<DayCalls> {
  const { workspaceId, from, until } = of;
  const within = [workspaceId, from, until, firstUuid(from.getTime() - DAY_MS), firstUuid(until.getTime() + DAY_MS)];
  // The ids begin with the time, so the index by which they are listed finds a day.
  const ofDay = `c.workspace_id = $1 AND c.call_uuid >= $4 AND c.call_uuid < $5 AND c.created_at >= $2 AND c.created_at < $3`;
  const [counts] = await database.query<{
    placed: number;
    answered: number;
    completed: number;
    failed: number;
    noAnswer: number;
    over: number;
    answeredOver: number;
    p50: number | null;
    p95: number | null;
    measured: number;
  }>(
    `SELECT count(*)::int AS placed, count(c.answered_at)::int AS answered,
            count(*) FILTER (WHERE c.status = 'completed')::int AS completed,
            count(*) FILTER (WHERE c.status = 'failed')::int AS failed,
            count(*) FILTER (WHERE c.status = 'no_answer')::int AS "noAnswer",
            count(c.ended_at)::int AS over, count(*) FILTER (WHERE c.ended_at IS NOT NULL AND c.answered_at IS NOT NULL)::int AS "answeredOver",
            percentile_disc(0.5) WITHIN GROUP (ORDER BY r.ms) AS p50, percentile_disc(0.95) WITHIN GROUP (ORDER BY r.ms) AS p95,
            count(r.ms)::int AS measured
     FROM calls c LEFT JOIN LATERAL (
       SELECT round((c.latency -> 'mouthToEarMs' ->> 'p50')::numeric)::int AS ms WHERE jsonb_typeof(c.latency -> 'mouthToEarMs' -> 'p50') = 'number'
     ) r ON true WHERE ${ofDay}`,
    within,
  );
  const reasons = await database.query<DayCalls['reasons'][number]>(
    `SELECT c.ended_reason AS reason, count(*)::int AS count, min(c.created_at) AS since, max(c.created_at) AS last
     FROM calls c
     WHERE ${ofDay} AND c.status IN ('failed', 'no_answer') AND c.ended_reason <> 'node_lost'
       AND c.ringing_at IS NULL AND c.answered_at IS NULL
     GROUP BY c.ended_reason ORDER BY count(*) DESC, c.ended_reason`,
    within,
  );
  const [live] = await database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM calls WHERE workspace_id = $1 AND status IN ${ACTIVE}`,
    [workspaceId],
  );
  const { over, answeredOver, p50, p95, measured, ...told } = counts!;
  return {
    live: live!.count,
    ...told,
    answerRate: rate(answeredOver, over),
    completionRate: rate(told.completed, answeredOver),
    replyMs: p50 === null || p95 === null ? null : { p50, p95, count: measured },
    reasons,
  };
}

const rate = (part: number, whole: number): number | null =>
  whole === 0 ? null : Math.round((1000 * Math.min(part, whole)) / whole) / 1000;

/** The least UUIDv7 of a time. */
function firstUuid(epochMs: number): string {
  const hex = Math.max(0, Math.floor(epochMs)).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** Null: the workspace has no URL. */
export async function readWebhooksBehind(database: Queryable, workspaceId: string): Promise<WebhooksBehind | null> {
  const [row] = await database.query<WebhooksBehind>(
    `SELECT p.url, p.disabled_at IS NULL AS enabled, p.failing_since AS "failingSince", coalesce(b.waiting, 0)::int AS waiting,
            b.oldest AS "oldestAt"
     FROM webhook_endpoints p LEFT JOIN LATERAL (
       SELECT count(*) AS waiting, min(d.created_at) AS oldest FROM webhook_deliveries d
       WHERE d.endpoint_id = p.id AND d.state = 'pending'
     ) b ON true WHERE p.workspace_id = $1 AND p.removed_at IS NULL`,
    [workspaceId],
  );
  return row ?? null;
}

const LACKS: readonly (NotSetUp & { has: string })[] = [
  {
    what: 'agent',
    has: 'EXISTS (SELECT 1 FROM agents a WHERE a.workspace_id = w.id AND a.deleted_at IS NULL)',
    why: 'There is no agent, so nobody could hold a conversation.',
    wayOut: 'Make one under Agents.',
  },
  {
    what: 'line',
    has: 'EXISTS (SELECT 1 FROM phone_lines l WHERE l.workspace_id = w.id AND l.deleted_at IS NULL AND l.credentials_sealed IS NOT NULL)',
    why: "There is no phone number with its carrier's credentials, so nothing can be dialled.",
    wayOut: 'Add one, or its credentials, under Settings, Phone numbers.',
  },
  {
    what: 'api_access',
    has: 'w.api_enabled',
    why: 'API access is off: keys are refused, and none can be made.',
    wayOut: "The operator of the service switches it on: Operator, Workspaces, or 'parley workspace api enable'.",
  },
  {
    what: 'key',
    has: 'EXISTS (SELECT 1 FROM api_keys k WHERE k.workspace_id = w.id AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now()))',
    why: 'There is no live API key, so no program can place calls.',
    wayOut: 'Make one under Settings, API keys.',
  },
  {
    what: 'webhook',
    has: 'EXISTS (SELECT 1 FROM webhook_endpoints p WHERE p.workspace_id = w.id AND p.disabled_at IS NULL)',
    why: 'There is no webhook URL that is on, so no program is told what becomes of calls.',
    wayOut: 'Set one under Settings, Webhooks.',
  },
];

export async function readNotSetUp(database: Queryable, workspaceId: string): Promise<NotSetUp[]> {
  const columns = LACKS.map(({ what, has }) => `${has} AS "${what}"`).join(', ');
  const [row] = await database.query<Record<string, boolean>>(`SELECT ${columns} FROM workspaces w WHERE w.id = $1`, [
    workspaceId,
  ]);
  return LACKS.filter(({ what }) => row?.[what] === false).map(({ what, why, wayOut }) => ({ what, why, wayOut }));
}
