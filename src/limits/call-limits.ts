/**
 * Step 13 of contract §2: may this workspace start one more call on this line now? Called by placement inside the
 * transaction that inserts the call's row, under an advisory lock per workspace that the commit releases: so the count
 * is exact however many requests and nodes there are. Nothing is taken unless every limit allows it.
 */
import type { Queryable } from '../store/database.ts';
import { decideRate, type Rate } from './gcra.ts';

export type CallLimitAnswer =
  | { ok: true }
  | { ok: false; code: 'cps_limit' | 'concurrency_limit' /** 1 to 30. */; retryAfterSeconds: number };

/** What `Prefer: return=representation` shows (contract §2). */
export interface CallLimitsInUse {
  concurrencyLimit: number;
  concurrencyInUse: number;
  lineCps: number;
}

interface LimitsRow {
  workspace_concurrent: number;
  workspace_cps: number;
  line_concurrent: number;
  line_cps: number;
  workspace_live: number;
  line_live: number;
  workspace_tat_us: string | null;
  line_tat_us: string | null;
}

const LIVE = `('queued', 'dialing', 'ringing', 'in_progress')`;
const TAT_US = `(extract(epoch FROM tat - clock_timestamp()) * 1000000)::bigint::text`;
const READ = `
  SELECT w.max_concurrent_calls AS workspace_concurrent, w.max_calls_per_second AS workspace_cps,
         l.max_concurrent_calls AS line_concurrent, l.max_calls_per_second AS line_cps,
         (SELECT count(*)::int FROM calls WHERE workspace_id = w.id AND status IN ${LIVE}) AS workspace_live,
         (SELECT count(*)::int FROM calls WHERE workspace_id = w.id AND line_id = l.id AND status IN ${LIVE}) AS line_live,
         (SELECT ${TAT_US} FROM rate_limits WHERE name = 'cps:workspace:' || w.id) AS workspace_tat_us,
         (SELECT ${TAT_US} FROM rate_limits WHERE name = 'cps:line:' || l.id) AS line_tat_us
  FROM workspaces w JOIN phone_lines l ON l.workspace_id = w.id
  WHERE w.id = $1 AND l.id = $2`;

const CPS_RETRY_SECONDS = 1;
const CONCURRENCY_RETRY_SECONDS = { least: 1, most: 30 };

export async function checkCallLimits(
  tx: Queryable,
  scope: { workspaceId: string; lineId: string },
): Promise<CallLimitAnswer> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('call-limits:' || $1, 0))`, [scope.workspaceId]);
  const [row] = await tx.query<LimitsRow>(READ, [scope.workspaceId, scope.lineId]);
  if (row === undefined) throw new Error(`Line ${scope.lineId} is not one of workspace ${scope.workspaceId}.`);

  const line = decideRate(Number(row.line_tat_us ?? 0), burstOf(row.line_cps));
  const workspace = decideRate(Number(row.workspace_tat_us ?? 0), burstOf(row.workspace_cps));
  if (!line.ok || !workspace.ok) return { ok: false, code: 'cps_limit', retryAfterSeconds: CPS_RETRY_SECONDS };
  if (row.workspace_live >= row.workspace_concurrent || row.line_live >= row.line_concurrent) {
    return {
      ok: false,
      code: 'concurrency_limit',
      retryAfterSeconds: await medianRemainingSeconds(tx, scope.workspaceId),
    };
  }
  await moveTat(tx, `cps:line:${scope.lineId}`, line.nextTatUs);
  await moveTat(tx, `cps:workspace:${scope.workspaceId}`, workspace.nextTatUs);
  return { ok: true };
}

export async function readCallLimits(
  database: Queryable,
  scope: { workspaceId: string; lineId: string },
): Promise<CallLimitsInUse> {
  const [row] = await database.query<LimitsRow>(READ, [scope.workspaceId, scope.lineId]);
  if (row === undefined) throw new Error(`Line ${scope.lineId} is not one of workspace ${scope.workspaceId}.`);
  return {
    concurrencyLimit: Math.min(row.workspace_concurrent, row.line_concurrent),
    concurrencyInUse: row.workspace_concurrent <= row.line_concurrent ? row.workspace_live : row.line_live,
    lineCps: row.line_cps,
  };
}

/** A second's worth may come at once: a line of 5 a second takes five parallel requests. */
function burstOf(perSecond: number): Rate {
  return { perSecond, burst: perSecond };
}

function moveTat(tx: Queryable, name: string, nextTatUs: number): Promise<object[]> {
  return tx.query(
    `INSERT INTO rate_limits (name, tat) VALUES ($1, clock_timestamp() + $2::bigint * interval '1 microsecond')
     ON CONFLICT (name) DO UPDATE SET tat = EXCLUDED.tat`,
    [name, nextTatUs],
  );
}

/** When half of the live calls should be over, judged by how long the last 50 calls lasted; 1 to 30 s. */
async function medianRemainingSeconds(tx: Queryable, workspaceId: string): Promise<number> {
  const [row] = await tx.query<{ seconds: number | null }>(
    `WITH usual AS (
       SELECT coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM ended_at - created_at)), 30) AS seconds
       FROM (SELECT created_at, ended_at FROM calls WHERE workspace_id = $1 AND ended_at IS NOT NULL
             ORDER BY call_uuid DESC LIMIT 50) AS recent
     )
     SELECT percentile_cont(0.5) WITHIN GROUP (
              ORDER BY usual.seconds - extract(epoch FROM clock_timestamp() - c.created_at)
            )::float8 AS seconds
     FROM calls c, usual WHERE c.workspace_id = $1 AND c.status IN ${LIVE}`,
    [workspaceId],
  );
  const { least, most } = CONCURRENCY_RETRY_SECONDS;
  return Math.min(most, Math.max(least, Math.ceil(row?.seconds ?? most)));
}
