/**
 * Steps 8 to 10 of contract §2: the line and the agent that a request names, and how many calls they may have, in one
 * query, within the key's workspace.
 */
import type { AgentDefinition } from '../../../media/contract/agent-definition.ts';
import { type CallLimitSettings, LIMIT_COLUMNS } from '../../limits/call-limit-settings.ts';
import type { NewCall } from '../../placement/ports.ts';
import { sealedPlace } from '../../sealing/sealed-places.ts';
import type { Sealer } from '../../sealing/sealer.ts';
import type { Queryable } from '../../store/database.ts';
import { Refusal } from '../refusal.ts';

interface Row extends CallLimitSettings {
  any_credentials: boolean;
  line_id: string | null;
  number: string;
  carrier: string;
  credentials_sealed: Buffer | null;
  credentials_version: number;
  agent_id: string | null;
  direction: string;
  version: number;
  definition: AgentDefinition;
}

const READ = `
  SELECT EXISTS (SELECT 1 FROM phone_lines WHERE workspace_id = $1 AND credentials_sealed IS NOT NULL) AS any_credentials,
         l.id AS line_id, l.number, l.carrier, l.credentials_sealed, l.credentials_version,
         a.id AS agent_id, a.direction, a.current_version AS version, v.definition, ${LIMIT_COLUMNS}
  FROM workspaces w
  LEFT JOIN phone_lines l ON l.workspace_id = $1 AND l.id = $2 AND l.deleted_at IS NULL
  LEFT JOIN agents a ON a.workspace_id = $1 AND a.id = $3 AND a.deleted_at IS NULL
  LEFT JOIN agent_versions v ON v.agent_id = a.id AND v.version = a.current_version
  WHERE w.id = $1`;

export async function findTargets(
  deps: { database: Queryable; sealer: Sealer },
  named: { workspaceId: string; from: string; agentId: string },
): Promise<Pick<NewCall, 'line' | 'agent' | 'limits'>> {
  const [row] = await deps.database.query<Row>(READ, [named.workspaceId, named.from, named.agentId]);
  if (row === undefined || !row.any_credentials) throw new Refusal('credentials_missing');
  if (row.line_id === null) throw new Refusal('invalid_from');
  // Another line has credentials, but this one cannot place a call.
  if (row.credentials_sealed === null) throw new Refusal('credentials_missing');
  const place = sealedPlace.lineCredentials(named.workspaceId, row.line_id);
  if (row.agent_id === null) throw new Refusal('agent_not_found');
  if (row.direction !== 'outbound' && row.direction !== 'any') throw new Refusal('agent_not_outbound');
  const { workspaceConcurrent, workspacePerSecond, lineConcurrent, linePerSecond } = row;
  return {
    line: {
      id: row.line_id,
      number: row.number,
      carrier: row.carrier,
      credentials: JSON.parse(deps.sealer.open(row.credentials_sealed, place)) as Record<string, string>,
      credentialsVersion: row.credentials_version,
    },
    agent: { id: row.agent_id, version: row.version, definition: row.definition },
    limits: { workspaceConcurrent, workspacePerSecond, lineConcurrent, linePerSecond },
  };
}
