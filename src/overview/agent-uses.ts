/**
 * What would notice that an agent is changed or taken away: calls, leads, settings; and what it needs itself. Read by
 * the API.
 */
import { countCalls, searchCalls } from '../call-log/call-log-search.ts';
import { clipsNamedIn } from '../clips/agent-clips.ts';
import { connectionsNamedIn } from '../connections/connection-uses.ts';
import type { Database } from '../store/database.ts';

export interface AgentUses {
  liveCalls: number;
  /** Of the last 30 days, as far as `MOST_COUNTED`. */
  calls: number;
  lastCallAt: Date | null;
  /** That name it. */
  leads: number;
  /** Calls of leads that name no agent are its. */
  isDefault: boolean;
  /** The number of the line of its calls of leads; null: the workspace's. */
  lineNumber: string | null;
  /** Keys of websites, any of which may ask for it. Empty where it is not for the web. */
  websites: { name: string; publicKey: string }[];
  /** That its current version names. */
  clips: string[];
  connections: string[];
}

const MOST_COUNTED = 10_000;
const COUNTED_DAYS = 30;

/** The agent is there. */
export async function readAgentUses(
  database: Database,
  { workspaceId, agentId, nowEpochMs }: { workspaceId: string; agentId: string; nowEpochMs: number },
): Promise<AgentUses> {
  const createdAfter = new Date(nowEpochMs - COUNTED_DAYS * 86_400_000).toISOString();
  const filters = { agentId: [agentId], createdAfter };
  const calls = await countCalls(database, { workspaceId, filters }, MOST_COUNTED);
  const ofAgent = { workspaceId, filters: { agentId: [agentId] }, after: null, limit: 1 };
  const [last] = (await searchCalls(database, ofAgent)).callUuids;
  const [row] = await database.query<
    Omit<AgentUses, 'calls' | 'clips' | 'connections' | 'websites'> & { definition: unknown; isForWeb: boolean }
  >(
    `SELECT (SELECT count(*)::int FROM calls WHERE workspace_id = $1 AND agent_id = $2
               AND status IN ('queued', 'dialing', 'ringing', 'in_progress')) AS "liveCalls",
            (SELECT created_at FROM calls WHERE call_uuid = $3) AS "lastCallAt",
            (SELECT count(*)::int FROM leads WHERE workspace_id = $1 AND agent_id = $2) AS leads,
            EXISTS (SELECT 1 FROM calling_policies WHERE workspace_id = $1 AND default_agent_id = $2) AS "isDefault",
            (SELECT l.number FROM phone_lines l WHERE l.id = a.line_id) AS "lineNumber",
            v.definition, a.direction IN ('web', 'any') AS "isForWeb"
       FROM agents a JOIN agent_versions v ON v.agent_id = a.id AND v.version = a.current_version
      WHERE a.workspace_id = $1 AND a.id = $2`,
    [workspaceId, agentId, last ?? null],
  );
  const { definition, isForWeb, ...counts } = row!;
  const websites = isForWeb
    ? await database.query<{ name: string; publicKey: string }>(
        `SELECT name, public_key AS "publicKey" FROM widget_keys
         WHERE workspace_id = $1 AND enabled AND revoked_at IS NULL ORDER BY lower(name)`,
        [workspaceId],
      )
    : [];
  return {
    ...counts,
    calls,
    websites,
    clips: [...new Set(clipsNamedIn(definition).map(({ clip }) => clip))],
    connections: [...new Set(connectionsNamedIn(definition).map(({ connection }) => connection))],
  };
}
