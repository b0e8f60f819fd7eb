/**
 * What only the database knows: active calls by state and the webhook backlog. Of the whole cluster, so every node
 * reports the same (take `max`, not `sum`). Asked at each scrape; a database that is away or slow gives
 * `parley_database_up 0` and nothing else.
 */
import type { Clock } from '../../media/contract/clock.ts';
import { gauge, type MetricFamily } from '../../media/contract/metrics.ts';
import { countOwed } from '../analysis/analysis-jobs.ts';
import { ACTIVE, ACTIVE_STATUSES } from '../calls/active-statuses.ts';
import type { Queryable } from '../store/database.ts';

const LIMIT_MS = 2_000;

const READ_LIVE = `SELECT status, count(*)::int AS count FROM calls WHERE status IN ${ACTIVE} GROUP BY status`;
const READ_BACKLOG = `
  SELECT count(*)::int AS pending, coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS oldest_seconds
  FROM webhook_deliveries WHERE state = 'pending'`;
const READ_RECEIVERS = `
  SELECT (SELECT count(*)::int FROM webhook_deliveries WHERE state = 'dead') AS dead,
    count(*) FILTER (WHERE disabled_reason = 'gone')::int AS gone,
    count(*) FILTER (WHERE disabled_reason = 'failing')::int AS failing,
    count(*) FILTER (WHERE disabled_reason = 'operator')::int AS operator
  FROM webhook_endpoints WHERE removed_at IS NULL`;
const DISABLED_REASONS = ['gone', 'failing', 'operator'] as const;

export async function databaseFamilies(deps: { database: Queryable; clock: Clock }): Promise<MetricFamily[]> {
  const beganAtMs = deps.clock.nowMs();
  let cancel = (): void => {};
  const tooLate = new Promise<null>((resolve) => {
    cancel = deps.clock.after(LIMIT_MS, () => resolve(null));
  });
  const read = Promise.all([
    deps.database.query<{ status: string; count: number }>(READ_LIVE),
    deps.database.query<{ pending: number; oldest_seconds: number }>(READ_BACKLOG),
    deps.database.query<Record<'dead' | (typeof DISABLED_REASONS)[number], number>>(READ_RECEIVERS),
    countOwed(deps.database),
  ]).catch(() => null);
  const rows = await Promise.race([read, tooLate]);
  cancel();
  if (rows === null) return [gauge('parley_database_up', UP_HELP, 0)];
  const [active, [backlog], [receivers], owed] = rows;
  const counts = new Map(active.map(({ status, count }) => [status, count]));
  const took = (deps.clock.nowMs() - beganAtMs) / 1000;
  return [
    gauge('parley_database_up', UP_HELP, 1),
    gauge('parley_database_query_seconds', 'How long the queries of this report took', took),
    {
      ...gauge('parley_calls_live', 'Calls that are not over, by state, of the whole cluster', 0),
      values: ACTIVE_STATUSES.map((status) => ({ labels: { status }, value: counts.get(status) ?? 0 })),
    },
    gauge(
      'parley_webhook_pending_deliveries',
      'Webhooks not yet delivered, of the whole cluster',
      backlog?.pending ?? 0,
    ),
    gauge(
      'parley_webhook_oldest_pending_seconds',
      'Age of the oldest webhook not yet delivered',
      Math.max(0, backlog?.oldest_seconds ?? 0),
    ),
    gauge('parley_analysis_pending', 'Calls that are over and not yet analysed, of the whole cluster', owed.count),
    gauge('parley_analysis_oldest_pending_seconds', 'How long the oldest of them has waited', owed.oldestSeconds),
    gauge('parley_webhook_dead_deliveries', 'Webhooks given up in the last 30 days', receivers?.dead ?? 0),
    {
      ...gauge('parley_webhook_endpoints_disabled', 'Webhook URLs that are switched off, by reason', 0),
      values: DISABLED_REASONS.map((reason) => ({ labels: { reason }, value: receivers?.[reason] ?? 0 })),
    },
  ];
}

const UP_HELP = `1 when PostgreSQL answered within ${LIMIT_MS / 1000} s`;
