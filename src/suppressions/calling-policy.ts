/**
 * What a workspace allows its dials: one row, or none for the defaults. Read by `dial-permit.ts` in the transaction that
 * makes a call, changed by the operator. Its version goes into every permit.
 */
import type { Queryable } from '../store/database.ts';

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
