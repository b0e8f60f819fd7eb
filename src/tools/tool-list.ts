/**
 * All tools of a workspace's agents, as the current versions have them, with how their last uses went. For whoever
 * looks after them; read by the API.
 */
import { type AgentDefinition, talkingAgent } from '../../media/contract/agent-definition.ts';
import { TOOL_DEFAULTS } from '../../media/contract/tools.ts';
import type { Queryable } from '../store/database.ts';
import { secretNamesOf } from './header-template.ts';
import { figuresOf, LAST_USES, type ToolFigures, type ToolUseView } from './tool-log.ts';

export interface ListedTool extends Omit<ToolFigures, 'last'> {
  agentId: string;
  agentName: string;
  kind: 'http' | 'client';
  description: string | null;
  /** Null: the page of a web session does it. */
  url: string | null;
  timeoutMs: number;
  /** Named by its headers. */
  secrets: string[];
  /** JSON Schema of its arguments; null: anything goes. */
  parameters: Record<string, unknown> | null;
  lastUsedAt: Date | null;
}

interface AgentRow {
  id: string;
  name: string;
  definition: AgentDefinition;
}

type UseRow = Pick<ToolUseView, 'outcome' | 'ms' | 'startedAt'> & { agentId: string; name: string };

/** By agent, each agent's in the order of its definition. */
export async function listTools(database: Queryable, workspaceId: string): Promise<ListedTool[]> {
  const agents = await database.query<AgentRow>(
    `SELECT a.id, a.name, v.definition FROM agents a
       JOIN agent_versions v ON v.agent_id = a.id AND v.version = a.current_version
      WHERE a.workspace_id = $1 AND a.deleted_at IS NULL ORDER BY lower(a.name), a.id`,
    [workspaceId],
  );
  const tools = agents.flatMap(({ id, name, definition }) =>
    (talkingAgent(definition)?.tools ?? []).map((tool) => ({ agentId: id, agentName: name, tool })),
  );
  const uses = await database.query<UseRow>(
    `SELECT asked.agent_id AS "agentId", asked.name, used.ms, used.started_at AS "startedAt",
            coalesce(used.outcome, CASE WHEN c.ended_at IS NOT NULL THEN 'cancelled' END) AS outcome
       FROM unnest($2::uuid[], $3::text[]) AS asked (agent_id, name)
       CROSS JOIN LATERAL (SELECT * FROM tool_calls t
         WHERE t.workspace_id = $1 AND t.agent_id = asked.agent_id AND t.name = asked.name
         ORDER BY t.started_at DESC LIMIT ${LAST_USES}) AS used
       JOIN calls c ON c.call_uuid = used.call_uuid
      ORDER BY used.started_at DESC`,
    [workspaceId, tools.map(({ agentId }) => agentId), tools.map(({ tool }) => tool.name)],
  );
  return tools.map(({ agentId, agentName, tool }) => {
    const own = uses.filter((use) => use.agentId === agentId && use.name === tool.name);
    return {
      agentId,
      agentName,
      name: tool.name,
      kind: tool.kind ?? 'http',
      description: tool.description ?? null,
      url: tool.url ?? null,
      timeoutMs: tool.timeoutMs ?? TOOL_DEFAULTS.timeoutMs,
      secrets: [...secretNamesOf(tool.headers ?? {})],
      parameters: tool.parameters ?? null,
      ...figuresOf(own),
      lastUsedAt: own[0]?.startedAt ?? null,
    };
  });
}
