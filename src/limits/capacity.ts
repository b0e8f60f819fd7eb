/**
 * What a workspace may use and what it uses now, for `GET /api/developer/limits`, `parley limits` and the answer to
 * `Prefer: return=representation`. Reads only; decides nothing.
 */
import type { Queryable } from '../store/database.ts';
import type { CallScope } from './call-limit-settings.ts';
import { KEPT_FOR_PHONE } from './phone-share.ts';

export interface Capacity {
  calls: { limit: number; inUse: number; reservedForPhone: number; perSecond: number };
  webSessions: { limit: number; inUse: number };
  api: { requestsPerSecond: number; burst: number };
  lines: { id: string; number: string; limit: number; inUse: number; perSecond: number }[];
}

/** What `Prefer: return=representation` shows (contract §2). */
export interface CallLimitsInUse {
  concurrencyLimit: number;
  concurrencyInUse: number;
  lineCps: number;
}

interface WorkspaceRow {
  limit: number;
  inUse: number;
  reservedForPhone: number;
  perSecond: number;
  webLimit: number;
  webInUse: number;
  requestsPerSecond: number;
  burst: number;
}

/** Undefined when there is no such workspace. */
export async function readCapacity(database: Queryable, workspaceId: string): Promise<Capacity | undefined> {
  const [workspace] = await database.query<WorkspaceRow>(
    `SELECT max_concurrent_calls AS "limit", limits_in_use('calls:' || id, '', clock_timestamp()) AS "inUse",
            ${KEPT_FOR_PHONE} AS "reservedForPhone", max_calls_per_second AS "perSecond",
            max_web_sessions AS "webLimit", limits_in_use('web:' || id, '', clock_timestamp()) AS "webInUse",
            api_requests_per_second AS "requestsPerSecond", api_burst AS burst
     FROM workspaces WHERE id = $1`,
    [workspaceId],
  );
  if (workspace === undefined) return undefined;
  const lines = await database.query<Capacity['lines'][number]>(
    `SELECT id, number, max_concurrent_calls AS "limit", max_calls_per_second AS "perSecond",
            limits_in_use('calls:' || workspace_id || ':' || id, '', clock_timestamp()) AS "inUse"
     FROM phone_lines WHERE workspace_id = $1 AND deleted_at IS NULL ORDER BY id`,
    [workspaceId],
  );
  const { limit, inUse, reservedForPhone, perSecond, webLimit, webInUse, requestsPerSecond, burst } = workspace;
  return {
    calls: { limit, inUse, reservedForPhone, perSecond },
    webSessions: { limit: webLimit, inUse: webInUse },
    api: { requestsPerSecond, burst },
    lines: lines.map(({ id, number, limit: most, inUse: used, perSecond: cps }) => ({
      id,
      number,
      limit: most,
      inUse: used,
      perSecond: cps,
    })),
  };
}

export async function readCallLimits(database: Queryable, scope: CallScope): Promise<CallLimitsInUse> {
  const capacity = await readCapacity(database, scope.workspaceId);
  const line = capacity?.lines.find(({ id }) => id === scope.lineId);
  if (capacity === undefined || line === undefined) {
    throw new Error(`Line ${scope.lineId} is not one of workspace ${scope.workspaceId}.`);
  }
  const { calls } = capacity;
  return {
    concurrencyLimit: Math.min(calls.limit, line.limit),
    concurrencyInUse: calls.limit <= line.limit ? calls.inUse : line.inUse,
    lineCps: line.perSecond,
  };
}
