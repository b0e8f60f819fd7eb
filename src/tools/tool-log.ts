/**
 * The uses of tools as rows: claimed before a request leaves, settled when media tells what the agent got, read for the
 * call log and for the figures of a tool. Called by the executor, by what handles media's
 * messages, by the API and the command line.
 */
import type { ToolUseFacts } from '../../media/contract/conversation.ts';
import { spreadOf } from '../calls/latency-summary.ts';
import type { Queryable } from '../store/database.ts';

/** As an entry of the call log shows it. */
export interface ToolUseView {
  name: string;
  ms: number | null;
  status: number | null;
  /** `cancelled` also where the call ended and nobody told of its result. Null: at work. */
  outcome: ToolUseFacts['outcome'] | null;
  error: string | null;
  toolCallId: string;
  startedAt: Date;
}

interface UseKey {
  callUuid: string;
  workspaceId: string;
  agentId: string;
  toolCallId: string;
  name: string;
  startedAtEpochMs: number;
}

/** False: it was claimed before, by this run of control or by one that died. */
export async function claimToolUse(tx: Queryable, use: UseKey): Promise<boolean> {
  const rows = await tx.query(
    `INSERT INTO tool_calls (call_uuid, tool_call_id, workspace_id, agent_id, name, started_at) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (call_uuid, tool_call_id) DO NOTHING RETURNING 1 AS one`,
    [use.callUuid, use.toolCallId, use.workspaceId, use.agentId, use.name, new Date(use.startedAtEpochMs)],
  );
  return rows.length > 0;
}

/**
 * What the agent got is the last word; a use that never came to control (a page's, an unknown tool) has its row from
 * here. False: it was told before.
 */
export async function settleToolUse(tx: Queryable, use: UseKey, facts: ToolUseFacts): Promise<boolean> {
  const { outcome, code, status, ms } = facts;
  const rows = await tx.query(
    `INSERT INTO tool_calls AS t (call_uuid, tool_call_id, workspace_id, agent_id, name, started_at, outcome, code, status, ms)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     ON CONFLICT (call_uuid, tool_call_id) DO UPDATE SET outcome = excluded.outcome, code = excluded.code,
       status = excluded.status, ms = excluded.ms
       WHERE t.outcome IS NULL
     RETURNING 1 AS one`,
    [
      use.callUuid,
      use.toolCallId,
      use.workspaceId,
      use.agentId,
      use.name,
      new Date(use.startedAtEpochMs),
      outcome,
      code,
      status,
      ms,
    ],
  );
  return rows.length > 0;
}

/** By call, in the order in which they began. */
export async function toolUsesOf(
  database: Queryable,
  callUuids: readonly string[],
): Promise<Map<string, ToolUseView[]>> {
  const rows = await database.query<ToolUseView & { callUuid: string }>(
    `SELECT t.call_uuid AS "callUuid", t.name, t.ms, t.status,
            coalesce(t.outcome, CASE WHEN c.ended_at IS NOT NULL THEN 'cancelled' END) AS outcome,
            t.code AS error, t.tool_call_id AS "toolCallId", t.started_at AS "startedAt"
       FROM tool_calls t JOIN calls c ON c.call_uuid = t.call_uuid
      WHERE t.call_uuid = ANY ($1::uuid[]) ORDER BY t.started_at, t.tool_call_id`,
    [callUuids],
  );
  const byCall = new Map<string, ToolUseView[]>();
  for (const { callUuid, ...use } of rows) byCall.set(callUuid, [...(byCall.get(callUuid) ?? []), use]);
  return byCall;
}

/** An entry's `latency` with the spread of its tools, if it used any that ended. */
export function withToolMs(
  latency: Record<string, unknown> | null,
  uses: readonly ToolUseView[],
): Record<string, unknown> | null {
  const spread = spreadOf(uses.filter((use) => use.outcome !== 'cancelled').flatMap((use) => use.ms ?? []));
  return spread === null ? latency : { ...latency, toolMs: spread };
}

export interface ToolFigures {
  name: string;
  /** Of the last 100 uses. */
  uses: number;
  failed: number;
  cancelled: number;
  p50Ms: number | null;
  p95Ms: number | null;
  last: (Omit<ToolUseView, 'name'> & { callUuid: string })[];
}

export const LAST_USES = 100;

export function figuresOf(uses: readonly Pick<ToolUseView, 'outcome' | 'ms'>[]): Omit<ToolFigures, 'name' | 'last'> {
  const spread = spreadOf(uses.filter((use) => use.outcome !== 'cancelled').flatMap((use) => use.ms ?? []));
  return {
    uses: uses.length,
    failed: uses.filter((use) => use.outcome === 'failed').length,
    cancelled: uses.filter((use) => use.outcome === 'cancelled').length,
    p50Ms: spread?.p50 ?? null,
    p95Ms: spread?.p95 ?? null,
  };
}

/** Of one agent, all versions: each tool's last 100 uses, newest first. */
export async function toolFigures(
  database: Queryable,
  scope: { workspaceId: string; agentId: string },
): Promise<ToolFigures[]> {
  const rows = await database.query<ToolUseView & { callUuid: string }>(
    `SELECT * FROM (
       SELECT t.call_uuid AS "callUuid", t.name, t.ms, t.status,
              coalesce(t.outcome, CASE WHEN c.ended_at IS NOT NULL THEN 'cancelled' END) AS outcome,
              t.code AS error, t.tool_call_id AS "toolCallId", t.started_at AS "startedAt",
              row_number() OVER (PARTITION BY t.name ORDER BY t.started_at DESC) AS place
         FROM tool_calls t JOIN calls c ON c.call_uuid = t.call_uuid
        WHERE t.workspace_id = $1 AND t.agent_id = $2) AS used
      WHERE place <= ${LAST_USES} ORDER BY name, place`,
    [scope.workspaceId, scope.agentId],
  );
  const names = [...new Set(rows.map((row) => row.name))];
  return names.map((name) => {
    const uses = rows.filter((row) => row.name === name);
    return {
      name,
      ...figuresOf(uses),
      last: uses.map(({ callUuid, ms, status, outcome, error, toolCallId, startedAt }) => ({
        callUuid,
        ms,
        status,
        outcome,
        error,
        toolCallId,
        startedAt,
      })),
    };
  });
}
