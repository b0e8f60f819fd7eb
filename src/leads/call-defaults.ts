/**
 * Which agent and which line a lead's call uses when neither the request nor the lead says (contract §4, §5): the
 * workspace's default agent, the agent's own line, the workspace's default line; and where there is only one that could
 * be meant, that one.
 */
import type { Queryable } from '../store/database.ts';

export interface CallDefaults {
  agentId: string | null;
  lineId: string | null;
  /** The workspace has no line with carrier credentials. */
  noLine: boolean;
}

const READ = `
  WITH agent AS (
    SELECT coalesce($2::uuid, p.default_agent_id, CASE WHEN o.count = 1 THEN o.only::uuid END) AS id, p.default_line_id
    FROM (SELECT count(*), min(id::text) AS only FROM agents
          WHERE workspace_id = $1 AND direction IN ('outbound', 'any') AND deleted_at IS NULL) AS o
    LEFT JOIN calling_policies p ON p.workspace_id = $1
  )
  SELECT agent.id AS "agentId",
         coalesce($3::uuid, a.line_id, agent.default_line_id, CASE WHEN l.count = 1 THEN l.only::uuid END) AS "lineId",
         l.count = 0 AS "noLine"
  FROM agent
  CROSS JOIN (SELECT count(*), min(id::text) AS only FROM phone_lines
              WHERE workspace_id = $1 AND credentials_sealed IS NOT NULL AND deleted_at IS NULL) AS l
  LEFT JOIN agents a ON a.workspace_id = $1 AND a.id = agent.id`;

/** What is given comes back; whether it exists, `findTargets` checks. */
export async function withDefaults(
  database: Queryable,
  workspaceId: string,
  given: { agentId: string | null; lineId: string | null },
): Promise<CallDefaults> {
  const [row] = await database.query<CallDefaults>(READ, [workspaceId, given.agentId, given.lineId]);
  return row!;
}
