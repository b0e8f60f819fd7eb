/**
 * The Retry-After of a workspace whose slots are all taken (contract §11): when half of its active calls should be
 * over, judged by how long its last 50 calls lasted; 1 to 30 s. Asked once a second a workspace at most, since it is
 * asked when it is busy.
 */

import type { Clock } from '../../media/contract/clock.ts';
import { ACTIVE } from '../calls/active-statuses.ts';
import type { Queryable } from '../store/database.ts';

const LEAST_SECONDS = 1;
const MOST_SECONDS = 30;
const KEEP_MS = 1_000;
const MOST_KEPT = 1_000;

export function createRemainingTimes(deps: { database: Queryable; clock: Pick<Clock, 'nowMs'> }): {
  medianSeconds(workspaceId: string): Promise<number>;
} {
  const kept = new Map<string, { seconds: Promise<number>; untilMs: number }>();
  return {
    medianSeconds(workspaceId) {
      const nowMs = deps.clock.nowMs();
      const known = kept.get(workspaceId);
      if (known !== undefined && nowMs < known.untilMs) return known.seconds;
      const seconds = read(deps.database, workspaceId);
      kept.delete(workspaceId);
      kept.set(workspaceId, { seconds, untilMs: nowMs + KEEP_MS });
      seconds.catch(() => kept.delete(workspaceId));
      if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!);
      return seconds;
    },
  };
}

async function read(database: Queryable, workspaceId: string): Promise<number> {
  const [row] = await database.query<{ seconds: number | null }>(
    `WITH usual AS (
       SELECT coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM ended_at - created_at)), 30) AS seconds
       FROM (SELECT created_at, ended_at FROM calls WHERE workspace_id = $1 AND ended_at IS NOT NULL
             ORDER BY call_uuid DESC LIMIT 50) AS recent
     )
     SELECT percentile_cont(0.5) WITHIN GROUP (
              ORDER BY usual.seconds - extract(epoch FROM clock_timestamp() - c.created_at)
            )::float8 AS seconds
     FROM calls c, usual WHERE c.workspace_id = $1 AND c.status IN ${ACTIVE}`,
    [workspaceId],
  );
  return Math.min(MOST_SECONDS, Math.max(LEAST_SECONDS, Math.ceil(row?.seconds ?? MOST_SECONDS)));
}
