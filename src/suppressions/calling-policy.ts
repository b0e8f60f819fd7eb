/**
 * What a workspace allows its dials: one row, or none for the defaults. Read by `dial-permit.ts` in the transaction that
 * makes a call, changed by the operator. Its version goes into every permit.
 */
import type { ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { Database, Queryable } from '../store/database.ts';
import { OperatorError } from '../workspaces/operator-error.ts';

export interface CallingWindow {
  /** `09:00`, local to the called person. */
  start: string;
  /** `20:00`; not before `start`. */
  end: string;
  /** 1 Monday to 7 Sunday. */
  days: number[];
  /** IANA, or `recipient`: that of the called person. */
  timezone: string;
}

export interface CallingPolicy {
  version: number;
  suppressionVersion: number;
  /** Null: at any time. */
  window: CallingWindow | null;
  /** ISO 3166; null: any. */
  allowedCountries: string[] | null;
  blockedCountries: string[];
  /** Contract §2: refuse a call while one of the same number, agent and line is not over. */
  guardCalls: boolean;
  guardLeads: boolean;
}

export interface PolicyReading extends CallingPolicy {
  suppressed: boolean;
}

const READ = `
  SELECT EXISTS (SELECT 1 FROM suppressions WHERE workspace_id = $1 AND phone = $2) AS suppressed,
         coalesce(p.version, 0) AS version, coalesce(p.suppression_version, 0)::float8 AS "suppressionVersion",
         p.calling_window AS "window", p.allowed_countries AS "allowedCountries",
         coalesce(p.blocked_countries, '{}') AS "blockedCountries",
         coalesce(p.guard_calls, false) AS "guardCalls", coalesce(p.guard_leads, true) AS "guardLeads"
  FROM (SELECT 1) AS one LEFT JOIN calling_policies p ON p.workspace_id = $1`;

/** The policy, and whether `phone` is on the list: one snapshot. */
export async function readPolicyFor(tx: Queryable, workspaceId: string, phone: string): Promise<PolicyReading> {
  const [row] = await tx.query<PolicyReading>(READ, [workspaceId, phone]);
  return row!;
}

/** What the operator sees and changes. */
export interface CallingSettings {
  guardCalls: boolean;
  guardLeads: boolean;
  defaultAgentId: string | null;
  defaultLineId: string | null;
}

const SETTINGS = `guard_calls AS "guardCalls", guard_leads AS "guardLeads", default_agent_id AS "defaultAgentId",
  default_line_id AS "defaultLineId"`;
const PRESET: CallingSettings = { guardCalls: false, guardLeads: true, defaultAgentId: null, defaultLineId: null };

export async function readCallingSettings(database: Queryable, workspaceId: string): Promise<CallingSettings> {
  const [row] = await database.query<CallingSettings>(
    `SELECT ${SETTINGS} FROM calling_policies WHERE workspace_id = $1`,
    [workspaceId],
  );
  return row ?? PRESET;
}

/** Changes what is given. Throws `OperatorError` for an agent or line of another workspace. */
export async function changeCallingSettings(
  database: Database,
  workspaceId: string,
  change: Partial<CallingSettings>,
  by: ChangedBy,
): Promise<CallingSettings> {
  return database.transaction(async (tx) => {
    await mustBeOfWorkspace(tx, 'agents', 'agent', workspaceId, change.defaultAgentId);
    await mustBeOfWorkspace(tx, 'phone_lines', 'line', workspaceId, change.defaultLineId);
    const before = await readCallingSettings(tx, workspaceId);
    const after = { ...before, ...change };
    await tx.query(
      `INSERT INTO calling_policies AS p (workspace_id, version, guard_calls, guard_leads, default_agent_id, default_line_id)
       VALUES ($1, 1, $2, $3, $4, $5)
       ON CONFLICT (workspace_id) DO UPDATE
         SET version = p.version + 1, guard_calls = $2, guard_leads = $3, default_agent_id = $4, default_line_id = $5`,
      [workspaceId, after.guardCalls, after.guardLeads, after.defaultAgentId, after.defaultLineId],
    );
    const target = `workspace:${workspaceId}`;
    await recordAudit(tx, { workspaceId, by, action: 'workspace.calling_changed', target, before, after });
    return after;
  });
}

/** The line that an agent's calls of leads use; null: the workspace's. */
export async function setAgentLine(
  database: Database,
  workspaceId: string,
  args: { agentId: string; lineId: string | null; by: ChangedBy },
): Promise<void> {
  const { agentId, lineId, by } = args;
  await database.transaction(async (tx) => {
    await mustBeOfWorkspace(tx, 'agents', 'agent', workspaceId, agentId);
    await mustBeOfWorkspace(tx, 'phone_lines', 'line', workspaceId, lineId);
    await tx.query('UPDATE agents SET line_id = $3 WHERE workspace_id = $1 AND id = $2', [
      workspaceId,
      agentId,
      lineId,
    ]);
    const after = { lineId };
    await recordAudit(tx, { workspaceId, by, action: 'agent.line_changed', target: `agent:${agentId}`, after });
  });
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

async function mustBeOfWorkspace(
  tx: Queryable,
  table: 'agents' | 'phone_lines',
  what: string,
  workspaceId: string,
  id: string | null | undefined,
): Promise<void> {
  if (id === undefined || id === null) return;
  const sql = `SELECT 1 AS one FROM ${table} WHERE workspace_id = $1 AND id = $2`;
  if (UUID.test(id) && (await tx.query(sql, [workspaceId, id])).length > 0) return;
  throw new OperatorError('not_found', `The workspace has no ${what} '${id}'; see: parley ${what} list`);
}
