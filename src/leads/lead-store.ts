/**
 * The rows of `leads`: written by the routes and by imports in the same way, read one by one or in pages, newest first.
 * Every statement names the workspace. What calls make of a lead is in `lead-calls.ts`.
 */
import { v7 as uuidv7 } from 'uuid';
import type { Queryable } from '../store/database.ts';
import type { Consent, LeadChange, LeadInput } from './lead-fields.ts';

export const LEAD_STATUSES = ['new', 'calling', 'contacted', 'no_answer', 'failed', 'do_not_contact'] as const;
export type LeadStatus = (typeof LEAD_STATUSES)[number];

export interface Lead {
  id: string;
  agentId: string | null;
  name: string;
  /** E.164. */
  phone: string;
  notes: string | null;
  source: string | null;
  status: LeadStatus;
  metadata: Record<string, unknown>;
  externalId: string | null;
  timezone: string | null;
  consent: Consent | null;
  lastCallUuid: string | null;
  callCount: number;
  /** The oldest lead of the workspace with this number, if that is another one. */
  duplicateOf: string | null;
  createdAt: Date;
  updatedAt: Date;
}

export const DEFAULT_LEAD_NAME = 'Customer';

export const SELECT_LEAD = `
  SELECT l.id, l.agent_id AS "agentId", coalesce(l.name, '${DEFAULT_LEAD_NAME}') AS name, l.phone, l.notes, l.source, l.status,
         coalesce(l.metadata, '{}') AS metadata, l.external_id AS "externalId", l.timezone, l.consent,
         l.last_call_uuid AS "lastCallUuid", l.call_count AS "callCount",
         (SELECT nullif(o.id, l.id) FROM leads o WHERE o.workspace_id = l.workspace_id AND o.phone = l.phone
          ORDER BY o.id LIMIT 1) AS "duplicateOf",
         l.created_at AS "createdAt", l.updated_at AS "updatedAt"
  FROM leads l`;

/**
 * The upsert fills only what is given: a null is what nobody gave. A number that must not be
 * called is marked so at once: each is looked up by itself, where an EXISTS may have the whole list read and hashed.
 */
const STORE = `
  INSERT INTO leads AS l (id, workspace_id, phone, agent_id, name, notes, source, metadata, external_id, timezone, consent,
                          created_at, updated_at, status)
  SELECT g.id, $1, g.phone, g.agent_id, g.name, g.notes, g.source, g.metadata, g.external_id, g.timezone, g.consent, $2, $2,
         CASE WHEN (SELECT true FROM suppressions s WHERE s.workspace_id = $1 AND s.phone = g.phone LIMIT 1)
              THEN 'do_not_contact' ELSE 'new' END
  FROM unnest($3::uuid[], $4::text[], $5::uuid[], $6::text[], $7::text[], $8::text[], $9::jsonb[], $10::text[], $11::text[],
              $12::jsonb[])
       AS g (id, phone, agent_id, name, notes, source, metadata, external_id, timezone, consent)
  ON CONFLICT (workspace_id, external_id) WHERE external_id IS NOT NULL DO UPDATE
    SET phone = EXCLUDED.phone, agent_id = coalesce(EXCLUDED.agent_id, l.agent_id), name = coalesce(EXCLUDED.name, l.name),
        notes = coalesce(EXCLUDED.notes, l.notes), source = coalesce(EXCLUDED.source, l.source),
        metadata = coalesce(EXCLUDED.metadata, l.metadata), timezone = coalesce(EXCLUDED.timezone, l.timezone),
        consent = coalesce(EXCLUDED.consent, l.consent), updated_at = EXCLUDED.updated_at,
        status = CASE WHEN EXCLUDED.status = 'do_not_contact' THEN EXCLUDED.status ELSE l.status END
  RETURNING l.id`;

export interface StoredLead {
  id: string;
  /** False: a lead with this `externalId` was there, and is changed. */
  created: boolean;
}

/**
 * Creates or, by `externalId`, changes leads, in one statement; in a transaction or alone. Two of `inputs` must not
 * have the same `externalId`. The agents are known to be the workspace's. Answers come in no particular order.
 */
export async function storeLeads(
  database: Queryable,
  workspaceId: string,
  inputs: readonly LeadInput[],
  now: Date,
): Promise<StoredLead[]> {
  const ids = inputs.map(() => uuidv7());
  const column = (pick: (input: LeadInput) => unknown): unknown[] => inputs.map((input) => pick(input) ?? null);
  const json = (value: unknown): string | null =>
    value === undefined || value === null ? null : JSON.stringify(value);
  const rows = await database.query<{ id: string }>(STORE, [
    workspaceId,
    now,
    ids,
    column((input) => input.phone),
    column((input) => input.agentId),
    column((input) => input.name),
    column((input) => input.notes),
    column((input) => input.source),
    column((input) => json(input.metadata)),
    column((input) => input.externalId),
    column((input) => input.timezone),
    column((input) => json(input.consent)),
  ]);
  const made = new Set(ids);
  return rows.map(({ id }) => ({ id, created: made.has(id) }));
}

/** Undefined: the workspace has no such lead. */
export async function readLead(database: Queryable, workspaceId: string, leadId: string): Promise<Lead | undefined> {
  return (
    await database.query<Lead>(`${SELECT_LEAD} WHERE l.workspace_id = $1 AND l.id = $2`, [workspaceId, leadId])
  )[0];
}

export interface LeadFilters {
  /** Of each: any of these. */
  status?: readonly LeadStatus[] | undefined;
  source?: readonly string[] | undefined;
  agentId?: readonly string[] | undefined;
  /** E.164. */
  phone?: readonly string[] | undefined;
  externalId?: readonly string[] | undefined;
  /** From then on, including it. */
  createdAfter?: Date | undefined;
  /** Up to then, without it. */
  createdBefore?: Date | undefined;
}

/** At most `limit`, newest first; `before` is the id of the last one of the page before. */
export async function listLeads(
  database: Queryable,
  workspaceId: string,
  filters: LeadFilters,
  page: { before: string | null; limit: number },
): Promise<Lead[]> {
  const conditions = ['l.workspace_id = $1'];
  const values: unknown[] = [workspaceId];
  const where = (condition: (place: string) => string, value: unknown): void => {
    if (value === undefined || value === null) return;
    values.push(value);
    conditions.push(condition(`$${values.length}`));
  };
  where((place) => `l.status = ANY (${place}::text[])`, filters.status);
  where((place) => `l.source = ANY (${place}::text[])`, filters.source);
  where((place) => `l.agent_id = ANY (${place}::uuid[])`, filters.agentId);
  where((place) => `l.phone = ANY (${place}::text[])`, filters.phone);
  where((place) => `l.external_id = ANY (${place}::text[])`, filters.externalId);
  where((place) => `l.created_at >= ${place}`, filters.createdAfter);
  where((place) => `l.created_at < ${place}`, filters.createdBefore);
  where((place) => `l.id < ${place}`, page.before);
  values.push(page.limit);
  return database.query<Lead>(
    `${SELECT_LEAD} WHERE ${conditions.join(' AND ')} ORDER BY l.id DESC LIMIT $${values.length}`,
    values,
  );
}

const CHANGEABLE: Record<keyof LeadChange, string> = {
  phone: 'phone',
  agentId: 'agent_id',
  name: 'name',
  notes: 'notes',
  source: 'source',
  metadata: 'metadata',
  externalId: 'external_id',
  timezone: 'timezone',
  consent: 'consent',
  status: 'status',
};

/**
 * Undefined: no such lead. `taken`: another lead of the workspace has this `externalId`. A call
 * under way still settles the status.
 */
export async function changeLead(
  database: Queryable,
  workspaceId: string,
  leadId: string,
  change: LeadChange,
  now: Date,
): Promise<Lead | 'taken' | undefined> {
  const values: unknown[] = [workspaceId, leadId, now];
  const assignments = Object.entries(change).map(([property, value]) => {
    const isJson = property === 'metadata' || property === 'consent';
    values.push(isJson && value !== null ? JSON.stringify(value) : value);
    return `${CHANGEABLE[property as keyof LeadChange]} = $${values.length}`;
  });
  try {
    await database.query(
      `UPDATE leads SET ${['updated_at = $3', ...assignments].join(', ')} WHERE workspace_id = $1 AND id = $2`,
      values,
    );
  } catch (error) {
    if ((error as { constraint?: string }).constraint === 'leads_external_id') return 'taken';
    throw error;
  }
  return readLead(database, workspaceId, leadId);
}

/** The row is gone, and with it what it held of a person. Its calls keep its id. False: no such lead. */
export async function deleteLead(database: Queryable, workspaceId: string, leadId: string): Promise<boolean> {
  const rows = await database.query('DELETE FROM leads WHERE workspace_id = $1 AND id = $2 RETURNING 1 AS one', [
    workspaceId,
    leadId,
  ]);
  return rows.length > 0;
}

/** Of `agentIds`, the agents of the workspace, each with whether it calls out. */
export type KnownAgents = ReadonlyMap<string, boolean>;

export async function knownAgents(
  database: Queryable,
  workspaceId: string,
  agentIds: readonly string[],
): Promise<KnownAgents> {
  if (agentIds.length === 0) return new Map();
  const rows = await database.query<{ id: string; callsOut: boolean }>(
    `SELECT id, direction IN ('outbound', 'any') AS "callsOut" FROM agents
     WHERE workspace_id = $1 AND id = ANY($2::uuid[]) AND deleted_at IS NULL`,
    [workspaceId, [...new Set(agentIds)]],
  );
  return new Map(rows.map(({ id, callsOut }) => [id, callsOut]));
}

/** Why a lead cannot have this agent; null when it can, or names none. */
export function faultOfAgent(
  known: KnownAgents,
  agentId: string | null | undefined,
): 'agent_not_found' | 'agent_not_outbound' | null {
  if (agentId === null || agentId === undefined) return null;
  const callsOut = known.get(agentId);
  if (callsOut === undefined) return 'agent_not_found';
  return callsOut ? null : 'agent_not_outbound';
}
