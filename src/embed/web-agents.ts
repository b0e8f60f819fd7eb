/**
 * The agent of a web session: of the key's workspace, and made for the web. Its current version
 * holds for the whole session.
 */
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import type { Queryable } from '../store/database.ts';

export interface WebAgent {
  agentId: string;
  version: number;
  definition: AgentDefinition;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Undefined: no such agent in the workspace, or it does not take web sessions. */
export async function findWebAgent(
  database: Queryable,
  scope: { workspaceId: string; agentId: unknown },
): Promise<WebAgent | undefined> {
  if (typeof scope.agentId !== 'string' || !UUID.test(scope.agentId)) return undefined;
  const rows = await database.query<WebAgent>(
    `SELECT a.id AS "agentId", v.version, v.definition
       FROM agents a JOIN agent_versions v ON v.agent_id = a.id AND v.version = a.current_version
      WHERE a.workspace_id = $1 AND a.id = $2 AND a.direction IN ('web', 'any') AND a.deleted_at IS NULL`,
    [scope.workspaceId, scope.agentId],
  );
  return rows[0];
}
