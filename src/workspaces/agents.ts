/** Agents of a workspace: import a checked definition as a new agent or as the next version of one, and list them. */
import { v7 as uuidv7 } from 'uuid';
import type { AgentDirection } from '../../media/contract/agent-definition.ts';
import { checkAgent } from '../agents/check-agent.ts';
import { type AgentFault, faultLines } from '../agents/faults.ts';
import { type Lexicon, loadLexicon } from '../agents/lexicon.ts';
import { BY_OPERATOR, type ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { Database, Queryable } from '../store/database.ts';
import { OperatorError } from './operator-error.ts';
import { findWorkspace } from './workspaces.ts';

export interface AgentSummary {
  id: string;
  name: string;
  direction: AgentDirection;
  version: number;
  createdAt: Date;
}

/** The definition was refused; nothing was stored. */
export class AgentFaultsError extends OperatorError {
  readonly faults: readonly AgentFault[];

  constructor(faults: readonly AgentFault[]) {
    super(
      'invalid',
      `The agent has ${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}:\n${faultLines(faults)
        .map((line) => `  ${line}`)
        .join('\n')}`,
    );
    this.faults = faults;
  }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const COLUMNS = `id, name, direction, current_version AS version, created_at AS "createdAt"`;
let lexicon: Lexicon | undefined;

/**
 * `definition` is parsed JSON of any kind. With the id of an agent of this workspace: its next version (calls that run
 * keep theirs). With another id, or none: a new agent. Throws `AgentFaultsError` with all faults.
 */
export async function importAgent(
  database: Database,
  args: { slug: string; definition: unknown; id?: string; by?: ChangedBy },
): Promise<AgentSummary> {
  if (args.id !== undefined && !UUID.test(args.id)) throw new OperatorError('invalid', `'${args.id}' is no UUID.`);
  lexicon ??= loadLexicon();
  const check = checkAgent(args.definition, lexicon);
  if (!check.ok) throw new AgentFaultsError(check.faults);
  const { name, direction } = check.definition;
  const id = args.id ?? uuidv7();
  return database.transaction(async (tx) => {
    const workspace = await findWorkspace(tx, args.slug);
    const [row] = await tx.query<AgentSummary>(
      `INSERT INTO agents AS a (id, workspace_id, name, direction, current_version) VALUES ($1, $2, $3, $4, 1)
       ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name, direction = EXCLUDED.direction, current_version = a.current_version + 1
         WHERE a.workspace_id = EXCLUDED.workspace_id
       RETURNING ${COLUMNS}`,
      [id, workspace.id, name, direction],
    );
    if (row === undefined)
      throw new OperatorError('exists', `The agent ${id} is one of another workspace; leave --id out.`);
    await tx.query('INSERT INTO agent_versions (agent_id, version, definition) VALUES ($1, $2, $3)', [
      id,
      row.version,
      JSON.stringify(check.definition),
    ]);
    await recordAudit(tx, {
      workspaceId: workspace.id,
      by: args.by ?? BY_OPERATOR,
      action: row.version === 1 ? 'agent.created' : 'agent.changed',
      target: `agent:${row.id}`,
      before: row.version === 1 ? null : { version: row.version - 1 },
      after: { name, direction, version: row.version },
    });
    return row;
  });
}

export async function listAgents(database: Queryable, args: { slug: string }): Promise<AgentSummary[]> {
  const { id } = await findWorkspace(database, args.slug);
  return listAgentsOf(database, id);
}

export function listAgentsOf(database: Queryable, workspaceId: string): Promise<AgentSummary[]> {
  return database.query<AgentSummary>(`SELECT ${COLUMNS} FROM agents WHERE workspace_id = $1 ORDER BY id`, [
    workspaceId,
  ]);
}
