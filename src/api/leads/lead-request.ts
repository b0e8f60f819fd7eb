/** What the routes of leads look at in a request before they do anything, and how they refuse it. */
import type { FastifyRequest } from 'fastify';
import { isTooDeep } from '../../../media/contract/json-depth.ts';
import { meaningOf } from '../../errors/error-codes.ts';
import type { LeadFault } from '../../leads/lead-fields.ts';
import { faultOfAgent, knownAgents } from '../../leads/lead-store.ts';
import type { Database } from '../../store/database.ts';
import { Refusal } from '../refusal.ts';

export const LEADS_PATH = '/api/developer/leads';

/** Of the fields that both creating and changing take. */
export const FIELD_CODES = [
  'conflicting_phone_fields',
  'invalid_phone',
  'invalid_agentId',
  'invalid_name',
  'invalid_notes',
  'invalid_source',
  'invalid_metadata',
  'invalid_externalId',
  'invalid_timezone',
  'invalid_consent',
] as const;

/** A lead is there to be called: an agent that only takes calls is refused now, not when somebody wants to talk. */
export async function agentMustDo(
  database: Database,
  workspaceId: string,
  agentId: string | null | undefined,
): Promise<void> {
  const known = await knownAgents(database, workspaceId, typeof agentId === 'string' ? [agentId] : []);
  const code = faultOfAgent(known, agentId);
  if (code !== null) throw new Refusal(code);
}

/** Refuses what is absent, or nested deeper than anything may walk. */
export function jsonBody({ body, headers }: FastifyRequest): unknown {
  if (headers['content-type'] === undefined) throw new Refusal('unsupported_media_type');
  if (body === undefined || isTooDeep(body)) throw new Refusal('invalid_json');
  return body;
}

export function objectBody(body: unknown): Record<string, unknown> | null {
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Record<string, unknown>) : null;
}

export function refusalOf(fault: LeadFault): Refusal {
  return new Refusal(fault.code, { details: [{ field: fault.field, issue: meaningOf(fault.code) }] });
}
