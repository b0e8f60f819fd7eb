/**
 * Agents of a workspace: a checked definition becomes a new agent or the next version of one; an old version may be
 * made current again; a deleted agent takes no new calls. An active call keeps the version that it began with, whatever
 * happens here. Used by the command line, the settings API and the demo.
 */
import { v7 as uuidv7 } from 'uuid';
import type { AgentDefinition, AgentDirection } from '../../media/contract/agent-definition.ts';
import { BY_OPERATOR, type ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { holdClipsOf } from '../clips/agent-clips.ts';
import { connectionFaultsOf } from '../connections/connection-uses.ts';
import { type AgentFault, faultLines } from '../errors/agent-faults.ts';
import { OperatorError } from '../errors/operator-error.ts';
import type { Database, Queryable } from '../store/database.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import { missingSecrets } from './agent-warnings.ts';
import { checkAgent } from './check-agent.ts';
import { type Lexicon, loadLexicon } from './lexicon.ts';
import { priceFaultsOf } from './price-check.ts';

export interface AgentSummary {
  id: string;
  name: string;
  direction: AgentDirection;
  version: number;
  createdAt: Date;
}

/** As it is after a change. */
export interface StoredAgent extends AgentSummary {
  /** The line of its calls of leads; null: the workspace's. */
  lineId: string | null;
}

/** Just checked and stored. */
export interface ImportedAgent extends StoredAgent {
  /** What will do, and likely not what it was meant to. */
  warnings: AgentFault[];
}

export interface AgentDetail extends StoredAgent {
  latestVersion: number;
  definition: AgentDefinition;
}

export interface AgentVersion {
  version: number;
  isCurrent: boolean;
  createdAt: Date;
}

/** Which agent, of which workspace. */
export interface AgentNamed {
  slug: string;
  agentId: string;
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
const STORED = `${COLUMNS}, line_id AS "lineId"`;
let lexicon: Lexicon | undefined;

/**
 * `definition` is parsed JSON of any kind. With the id of an agent of this workspace: its next version (calls that run
 * keep theirs); without: a new agent. Throws `AgentFaultsError` with all faults.
 */
export async function importAgent(
  database: Database,
  args: { slug: string; definition: unknown; id?: string; by?: ChangedBy },
): Promise<ImportedAgent> {
  if (args.id !== undefined && !UUID.test(args.id)) throw new OperatorError('invalid', `'${args.id}' is no UUID.`);
  return database.transaction(async (tx) => {
    const workspace = await findWorkspace(tx, args.slug);
    const { definition, warnings } = await checked(tx, workspace.id, args.definition);
    const { name, direction } = definition;
    const [row] = await tx.query<StoredAgent>(
      args.id === undefined
        ? `INSERT INTO agents (id, workspace_id, name, direction, current_version) VALUES ($1, $2, $3, $4, 1)
           RETURNING ${STORED}`
        : `UPDATE agents SET name = $3, direction = $4, current_version = latest_version + 1,
                  latest_version = latest_version + 1
           WHERE id = $1 AND workspace_id = $2 AND deleted_at IS NULL RETURNING ${STORED}`,
      [args.id ?? uuidv7(), workspace.id, name, direction],
    );
    if (row === undefined) {
      throw new OperatorError(
        'not_found',
        `Workspace '${args.slug}' has no agent '${args.id}': it is mistyped, deleted, or one of another workspace; nothing was stored`,
        `see: parley agent list ${args.slug}; without --id a new one is made`,
      );
    }
    await storeVersion(tx, row, definition);
    await recordAudit(tx, {
      workspaceId: workspace.id,
      by: args.by ?? BY_OPERATOR,
      action: row.version === 1 ? 'agent.created' : 'agent.changed',
      target: `agent:${row.id}`,
      before: row.version === 1 ? null : { version: row.version - 1 },
      after: { name, direction, version: row.version },
    });
    return { ...row, warnings };
  });
}

/**
 * The next version of an agent that is there. `ifVersion`: refused when another version has become current meanwhile.
 */
export async function changeAgent(
  database: Database,
  args: AgentNamed & { definition: unknown; ifVersion?: number | undefined; by?: ChangedBy },
): Promise<ImportedAgent> {
  return database.transaction(async (tx) => {
    const { agent, workspaceId } = await lockedAgent(tx, args);
    mustBeVersion(agent, args.ifVersion);
    const { definition, warnings } = await checked(tx, workspaceId, args.definition);
    const [row] = await tx.query<StoredAgent>(
      `UPDATE agents SET name = $2, direction = $3, latest_version = latest_version + 1, current_version = latest_version + 1
       WHERE id = $1 RETURNING ${STORED}`,
      [agent.id, definition.name, definition.direction],
    );
    await storeVersion(tx, row!, definition);
    await audit(tx, workspaceId, args.by, 'agent.changed', agent, row!);
    return { ...row!, warnings };
  });
}

/** New calls use this version again; its number stays. */
export async function activateAgentVersion(
  database: Database,
  args: AgentNamed & { version: number; ifVersion?: number | undefined; by?: ChangedBy },
): Promise<ImportedAgent> {
  return database.transaction(async (tx) => {
    const { agent, workspaceId } = await lockedAgent(tx, args);
    mustBeVersion(agent, args.ifVersion);
    const definition = await definitionOf(tx, agent.id, args.version);
    if (definition === undefined) throw unknownVersion(args);
    // The words that recognisers know may have changed since it was stored, and the clips.
    const { warnings } = await checked(tx, workspaceId, definition);
    const [row] = await tx.query<StoredAgent>(
      `UPDATE agents SET name = $2, direction = $3, current_version = $4 WHERE id = $1 RETURNING ${STORED}`,
      [agent.id, definition.name, definition.direction, args.version],
    );
    await audit(tx, workspaceId, args.by, 'agent.version_activated', agent, row!);
    return { ...row!, warnings };
  });
}

/** It takes no new calls and is in no list any more. Active calls go on; the log keeps its id. */
export async function deleteAgent(
  database: Database,
  args: AgentNamed & { ifVersion?: number | undefined; by?: ChangedBy },
): Promise<void> {
  await database.transaction(async (tx) => {
    const { agent, workspaceId } = await lockedAgent(tx, args);
    mustBeVersion(agent, args.ifVersion);
    const defaults = await tx.query('SELECT 1 AS one FROM calling_policies WHERE default_agent_id = $1', [agent.id]);
    if (defaults.length > 0) {
      throw new OperatorError('refused', "It is the workspace's default agent for leads; choose another one first.");
    }
    await tx.query('UPDATE agents SET deleted_at = now() WHERE id = $1', [agent.id]);
    await audit(tx, workspaceId, args.by, 'agent.deleted', agent, null);
  });
}

/** With the definition of one version, or of the current one. */
export async function readAgent(
  database: Queryable,
  args: AgentNamed & { version?: number | undefined },
): Promise<AgentDetail> {
  const { id } = await findWorkspace(database, args.slug);
  const [row] = UUID.test(args.agentId)
    ? await database.query<AgentDetail & { definition: AgentDefinition | null }>(
        `SELECT a.id, a.name, a.direction, coalesce($3, a.current_version) AS version, a.created_at AS "createdAt",
                a.latest_version AS "latestVersion", a.line_id AS "lineId", v.definition
         FROM agents a LEFT JOIN agent_versions v ON v.agent_id = a.id AND v.version = coalesce($3, a.current_version)
         WHERE a.workspace_id = $1 AND a.id = $2 AND a.deleted_at IS NULL`,
        [id, args.agentId, args.version ?? null],
      )
    : [];
  if (row === undefined) throw unknownAgent(args);
  if (row.definition === null) throw unknownVersion(args);
  return { ...row, name: row.definition.name, direction: row.definition.direction };
}

/** Newest first. */
export async function listAgentVersions(database: Queryable, args: AgentNamed): Promise<AgentVersion[]> {
  const agent = await readAgent(database, args);
  return database.query<AgentVersion>(
    `SELECT v.version, v.version = a.current_version AS "isCurrent", v.created_at AS "createdAt"
     FROM agent_versions v JOIN agents a ON a.id = v.agent_id WHERE a.id = $1 ORDER BY v.version DESC`,
    [agent.id],
  );
}

export async function listAgents(database: Queryable, args: { slug: string }): Promise<AgentSummary[]> {
  const { id } = await findWorkspace(database, args.slug);
  return listAgentsOf(database, id);
}

export function listAgentsOf(database: Queryable, workspaceId: string): Promise<AgentSummary[]> {
  return database.query<AgentSummary>(
    `SELECT ${COLUMNS} FROM agents WHERE workspace_id = $1 AND deleted_at IS NULL ORDER BY id`,
    [workspaceId],
  );
}

/** In the transaction that stores it: the clips and connections that it names stay until then. */
async function checked(
  tx: Queryable,
  workspaceId: string,
  definition: unknown,
): Promise<{ definition: AgentDefinition; warnings: AgentFault[] }> {
  lexicon ??= loadLexicon();
  const check = checkAgent(definition, lexicon);
  const clips = await holdClipsOf(tx, workspaceId, definition);
  const connections = await connectionFaultsOf(tx, workspaceId, definition);
  const prices = check.ok ? await priceFaultsOf(tx, workspaceId, check.definition) : [];
  const faults = [...(check.ok ? [] : check.faults), ...clips.faults, ...connections, ...prices];
  if (!check.ok || faults.length > 0) throw new AgentFaultsError(faults);
  const tools = check.definition.kind === 'tone' ? [] : check.definition.tools;
  const secrets = await missingSecrets(tx, workspaceId, tools);
  return { definition: clips.filled(check.definition), warnings: [...check.warnings, ...secrets] };
}

async function storeVersion(tx: Queryable, agent: AgentSummary, definition: AgentDefinition): Promise<void> {
  await tx.query('INSERT INTO agent_versions (agent_id, version, definition) VALUES ($1, $2, $3)', [
    agent.id,
    agent.version,
    JSON.stringify(definition),
  ]);
}

async function definitionOf(tx: Queryable, id: string, version: number): Promise<AgentDefinition | undefined> {
  const [row] = await tx.query<{ definition: AgentDefinition }>(
    'SELECT definition FROM agent_versions WHERE agent_id = $1 AND version = $2',
    [id, version],
  );
  return row?.definition;
}

async function lockedAgent(tx: Queryable, args: AgentNamed): Promise<{ agent: AgentSummary; workspaceId: string }> {
  const { id } = await findWorkspace(tx, args.slug);
  const [agent] = UUID.test(args.agentId)
    ? await tx.query<AgentSummary>(
        `SELECT ${COLUMNS} FROM agents WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL FOR UPDATE`,
        [id, args.agentId],
      )
    : [];
  if (agent === undefined) throw unknownAgent(args);
  return { agent, workspaceId: id };
}

function mustBeVersion(agent: AgentSummary, wanted: number | undefined): void {
  if (wanted === undefined || wanted === agent.version) return;
  throw new OperatorError('changed', `The agent is at version ${agent.version}, not ${wanted}; read it again.`);
}

function audit(
  tx: Queryable,
  workspaceId: string,
  by: ChangedBy = BY_OPERATOR,
  action: string,
  before: AgentSummary,
  after: AgentSummary | null,
): Promise<void> {
  const target = `agent:${before.id}`;
  return recordAudit(tx, { workspaceId, by, action, target, before: shown(before), after: after && shown(after) });
}

const shown = ({ name, direction, version }: AgentSummary): object => ({ name, direction, version });

function unknownAgent({ slug, agentId }: AgentNamed): OperatorError {
  return new OperatorError(
    'not_found',
    `Workspace '${slug}' has no agent '${agentId}'`,
    `see: parley agent list ${slug}`,
  );
}

function unknownVersion({ slug, agentId, version }: AgentNamed & { version?: number | undefined }): OperatorError {
  return new OperatorError(
    'no_version',
    `The agent has no version ${version}`,
    `see: parley agent versions ${slug} ${agentId}`,
  );
}
