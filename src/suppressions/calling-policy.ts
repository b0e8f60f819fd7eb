/**
 * What a workspace allows its dials: one row, or none for the defaults. Read by `dial-permit.ts` in the transaction
 * that makes a call, changed by the operator. Its version goes into every permit.
 */
import type { ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { OperatorError } from '../errors/operator-error.ts';
import type { Database, Queryable } from '../store/database.ts';
import type { Read } from '../store/joint-read.ts';
import { zonesOf } from './number-country.ts';
import { isTimeZone } from './time-zone.ts';

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

/** The policy, and whether `phone` is on the list: one snapshot. There is always a row. */
export function policyFor(workspaceId: string, phone: string): Read<PolicyReading> {
  return {
    sql(place) {
      const workspace = `${place(workspaceId)}::uuid`;
      return `SELECT EXISTS (SELECT 1 FROM suppressions WHERE workspace_id = ${workspace} AND phone = ${place(phone)}) AS suppressed,
         coalesce(p.version, 0) AS version, coalesce(p.suppression_version, 0)::float8 AS "suppressionVersion",
         p.calling_window AS "window", p.allowed_countries AS "allowedCountries",
         coalesce(p.blocked_countries, '{}') AS "blockedCountries",
         coalesce(p.guard_calls, false) AS "guardCalls", coalesce(p.guard_leads, true) AS "guardLeads"
  FROM (SELECT 1) AS one LEFT JOIN calling_policies p ON p.workspace_id = ${workspace}`;
    },
  };
}

/** What the operator sees and changes. */
export interface CallingSettings {
  window: CallingWindow | null;
  allowedCountries: string[] | null;
  blockedCountries: string[];
  guardCalls: boolean;
  guardLeads: boolean;
  defaultAgentId: string | null;
  defaultLineId: string | null;
}

const SETTINGS = `calling_window AS "window", allowed_countries AS "allowedCountries",
  blocked_countries AS "blockedCountries", guard_calls AS "guardCalls", guard_leads AS "guardLeads", default_agent_id AS "defaultAgentId",
  default_line_id AS "defaultLineId"`;
const PRESET: CallingSettings = {
  window: null,
  allowedCountries: null,
  blockedCountries: [],
  guardCalls: false,
  guardLeads: true,
  defaultAgentId: null,
  defaultLineId: null,
};

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
  /** Throws when what is there is not what the editor has seen. */
  expect?: (current: CallingSettings) => void,
): Promise<CallingSettings> {
  return database.transaction(async (tx) => {
    await tx.query('SELECT 1 FROM workspaces WHERE id = $1 FOR UPDATE', [workspaceId]);
    await mustBeOfWorkspace(tx, 'agents', 'agent', workspaceId, change.defaultAgentId);
    await mustBeOfWorkspace(tx, 'phone_lines', 'line', workspaceId, change.defaultLineId);
    const before = await readCallingSettings(tx, workspaceId);
    expect?.(before);
    const after = { ...before, ...change };
    await tx.query(
      `INSERT INTO calling_policies AS p (workspace_id, version, guard_calls, guard_leads, default_agent_id, default_line_id,
                                          calling_window, allowed_countries, blocked_countries)
       VALUES ($1, 1, $2, $3, $4, $5, $6, $7, $8)
       ON CONFLICT (workspace_id) DO UPDATE
         SET version = p.version + 1, guard_calls = $2, guard_leads = $3, default_agent_id = $4, default_line_id = $5,
             calling_window = $6, allowed_countries = $7, blocked_countries = $8`,
      [
        workspaceId,
        after.guardCalls,
        after.guardLeads,
        after.defaultAgentId,
        after.defaultLineId,
        after.window === null ? null : JSON.stringify(after.window),
        after.allowedCountries,
        after.blockedCountries,
      ],
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
  args: {
    agentId: string;
    lineId: string | null;
    by: ChangedBy;
    /** Throws when what is there is not what the editor has seen. */
    expect?: ((current: { version: number; lineId: string | null }) => void) | undefined;
  },
): Promise<void> {
  const { agentId, lineId, by } = args;
  await database.transaction(async (tx) => {
    await mustBeOfWorkspace(tx, 'agents', 'agent', workspaceId, agentId);
    const [before] = await tx.query<{ version: number; lineId: string | null }>(
      `SELECT current_version AS version, line_id AS "lineId" FROM agents WHERE workspace_id = $1 AND id = $2 FOR UPDATE`,
      [workspaceId, agentId],
    );
    args.expect?.(before!);
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
  const sql = `SELECT 1 AS one FROM ${table} WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL`;
  if (UUID.test(id) && (await tx.query(sql, [workspaceId, id])).length > 0) return;
  throw new OperatorError('not_found', `The workspace has no ${what} '${id}'`, `see: parley ${what} list`);
}

const CLOCK = /^([01]\d|2[0-3]):[0-5]\d$/;

/** `09:00-20:00`, days `1-5` or `1,3,7` (1 Monday), an IANA zone or `recipient`. Throws a sentence for the operator. */
export function readWindow(hours: string, days: string, timezone: string): CallingWindow {
  const [start = '', end = ''] = hours.split('-');
  if (!CLOCK.test(start) || (!CLOCK.test(end) && end !== '24:00') || start >= end) {
    throw new OperatorError('invalid', `'${hours}' are no hours like 09:00-20:00, within one day.`);
  }
  const range = /^([1-7])-([1-7])$/.exec(days);
  const named = range === null ? days.split(',').map(Number) : daysBetween(Number(range[1]), Number(range[2]));
  if (named.length === 0 || named.some((day) => !Number.isInteger(day) || day < 1 || day > 7)) {
    throw new OperatorError('invalid', `'${days}' are no days like 1-5 or 1,3,6 (1 is Monday).`);
  }
  if (timezone !== 'recipient' && !isTimeZone(timezone)) {
    throw new OperatorError('invalid', `'${timezone}' is neither 'recipient' nor a zone like America/Los_Angeles.`);
  }
  return { start, end, days: [...new Set(named)].toSorted(), timezone };
}

function daysBetween(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_none, index) => from + index);
}

/** `US,CA`. Throws a sentence for the operator. */
export function readCountries(list: string): string[] {
  const countries = list.split(',').map((country) => country.trim().toUpperCase());
  const bad = countries.find((country) => !/^[A-Z]{2}$/.test(country) || zonesOf(country).length === 0);
  if (bad === undefined) return [...new Set(countries)];
  throw new OperatorError('invalid', `'${bad}' is no country like US or DE (ISO 3166).`);
}
