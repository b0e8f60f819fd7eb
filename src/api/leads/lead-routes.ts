/**
 * `/api/developer/leads` and `/{leadId}` (contract §4): create, list, read, change, delete. Creating is an operation of the
 * specification: its errors have two keys, and its answer exactly the keys of the contract.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Clock } from '../../../media/contract/clock.ts';
import { isTooDeep } from '../../../media/contract/json-depth.ts';
import type { ChangedBy } from '../../audit/audit-entry.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { tellOfLead } from '../../leads/lead-event.ts';
import { type LeadFault, readLeadChange, readNewLead } from '../../leads/lead-fields.ts';
import {
  changeLead,
  deleteLead,
  knownAgents,
  LEAD_STATUSES,
  listLeads,
  readLead,
  storeLeads,
} from '../../leads/lead-store.ts';
import { normalisePhone } from '../../leads/phone-number.ts';
import type { Database } from '../../store/database.ts';
import { finishIdempotent, type IdempotencyScope } from '../../store/idempotency-keys.ts';
import type { WebhookBell } from '../../webhooks/outbox.ts';
import type { Principal } from '../authentication.ts';
import type { CursorCodec } from '../cursor.ts';
import { changedBy, type Guard } from '../guard.ts';
import { type Answer, answerOnce, idempotencyKeyOf } from '../outbound-call/idempotent-exchange.ts';
import { answeringRefusals, sendStored } from '../outbound-call/stored-answer.ts';
import { Refusal } from '../refusal.ts';
import { createdLeadView, leadView } from './lead-view.ts';

export interface LeadRouteDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  cursors: CursorCodec;
  webhookBell: WebhookBell;
}

export const LEADS_PATH = '/api/developer/leads';

export const leadParams = z.object({
  leadId: z.guid({ error: 'must be a UUID' }).transform((id) => id.toLowerCase()),
});

export const phoneInQuery = z
  .string()
  // A + that was not encoded arrives as a blank.
  .transform((text) => normalisePhone(text.replace(/^ (?=\d)/, '+')))
  .refine((phone) => phone !== null, 'must be a number in international form')
  .transform((phone) => phone as string);

export const pageQuery = {
  cursor: z.string().optional().meta({ description: '`nextCursor` of the page before' }),
  limit: z.coerce.number().int().min(1).max(200).default(50),
};

const instant = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 time with a zone, like 2026-11-21T01:00:00Z' })
  .transform((text) => new Date(text));

export const leadsQuery = z.object({
  status: z.enum(LEAD_STATUSES).optional(),
  source: z.string().max(120).optional(),
  agentId: z
    .guid('must be a UUID')
    .transform((id) => id.toLowerCase())
    .optional(),
  phone: phoneInQuery.optional(),
  externalId: z.string().max(128).optional(),
  createdAfter: instant.optional().meta({ description: 'From then on' }),
  createdBefore: instant.optional().meta({ description: 'Before then' }),
  ...pageQuery,
});

export function registerLeads(plain: FastifyInstance, guard: Guard, deps: LeadRouteDeps): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  const { database, clock, cursors } = deps;
  const now = (): Date => new Date(clock.epochMs());

  const specified = { specified: true, plain429: true };
  app.post(LEADS_PATH, { onRequest: guard('leads:write'), config: specified }, async (request, reply) => {
    const { principal } = request;
    const body = jsonBody(request);
    const key = idempotencyKeyOf(request.headers['idempotency-key']);
    const scope = key === null ? null : { workspaceId: principal.workspaceId, methodPath: `POST ${LEADS_PATH}`, key };
    const answer = await answerOnce(deps, scope, body, () =>
      answeringRefusals(() => create(principal, body, scope, changedBy(request))),
    );
    return sendStored(reply, answer);
  });

  async function create(
    principal: Principal,
    body: unknown,
    scope: IdempotencyScope | null,
    by: ChangedBy,
  ): Promise<Answer> {
    const given = objectBody(body);
    if (given === null) throw new Refusal('missing_fields');
    const read = readNewLead(given);
    if (!read.ok) throw refusalOf(read.fault);
    if (given['enterprise'] !== principal.slug) throw new Refusal('unauthorized');
    await agentMustBe(principal.workspaceId, read.value.agentId);
    return database.transaction(async (tx) => {
      const [stored] = await storeLeads(tx, principal.workspaceId, [read.value], now());
      const lead = await readLead(tx, principal.workspaceId, stored!.id);
      const { workspaceId } = principal;
      const action = stored!.created ? 'lead.created' : 'lead.changed';
      await recordAudit(tx, { workspaceId, by, action, target: `lead:${lead!.id}` });
      const body = JSON.stringify({ success: true, lead: createdLeadView(lead!, principal.slug) });
      const answer: Answer = {
        status: stored!.created ? 201 : 200,
        body,
        headers: {},
        callUuid: null,
        outcomeUnknown: false,
      };
      // With the lead or not at all: a process that dies between the two would make the lead twice.
      if (scope !== null) await finishIdempotent(tx, scope, answer, null);
      return answer;
    });
  }

  async function agentMustBe(workspaceId: string, agentId: string | null | undefined): Promise<void> {
    if (agentId === undefined || agentId === null) return;
    if (!(await knownAgents(database, workspaceId, [agentId])).has(agentId)) throw new Refusal('agent_not_found');
  }

  const listing = { onRequest: guard('leads:read'), schema: { querystring: leadsQuery } };
  app.get(LEADS_PATH, listing, async (request) => {
    const { cursor, limit, ...filters } = request.query;
    const { workspaceId, slug } = request.principal;
    const scope = { kind: 'leads', workspaceId, filters };
    const before = cursor === undefined ? null : (cursors.decode(scope, cursor)[0] ?? null);
    const leads = await listLeads(database, workspaceId, filters, { before, limit: limit + 1 });
    const page = leads.slice(0, limit);
    return {
      data: page.map((lead) => leadView(lead, slug)),
      nextCursor: leads.length > limit ? cursors.encode(scope, [page.at(-1)!.id]) : null,
    };
  });

  const readable = { onRequest: guard('leads:read'), schema: { params: leadParams } };
  const writable = { onRequest: guard('leads:write'), schema: { params: leadParams } };
  app.get(`${LEADS_PATH}/:leadId`, readable, async (request) => {
    const { workspaceId, slug } = request.principal;
    const lead = await readLead(database, workspaceId, request.params.leadId);
    if (lead === undefined) throw new Refusal('lead_not_found');
    return { success: true, lead: leadView(lead, slug) };
  });

  app.patch(`${LEADS_PATH}/:leadId`, writable, async (request) => {
    const { workspaceId, slug } = request.principal;
    const given = objectBody(jsonBody(request));
    if (given === null) throw new Refusal('invalid_request', { details: [{ field: '', issue: 'must be an object' }] });
    const read = readLeadChange(given);
    if (!read.ok) throw refusalOf(read.fault);
    if (given['enterprise'] !== undefined && given['enterprise'] !== slug) throw new Refusal('unauthorized');
    await agentMustBe(workspaceId, read.value.agentId);
    const { leadId } = request.params;
    const { lead, deliveryIds } = await database.transaction(async (tx) => {
      const changed = await changeLead(tx, workspaceId, leadId, read.value, now());
      if (changed === undefined) throw new Refusal('lead_not_found');
      if (changed === 'taken') throw new Refusal('external_id_taken');
      const after = { fields: Object.keys(read.value) };
      await recordAudit(tx, {
        workspaceId,
        by: changedBy(request),
        action: 'lead.changed',
        target: `lead:${leadId}`,
        after,
      });
      return { lead: changed, deliveryIds: await tellOfLead(tx, { workspaceId, leadId }, clock) };
    });
    if (deliveryIds.length > 0) deps.webhookBell.ring(deliveryIds);
    return { success: true, lead: leadView(lead, slug) };
  });

  app.delete(`${LEADS_PATH}/:leadId`, writable, async (request) => {
    const { leadId } = request.params;
    const { workspaceId } = request.principal;
    await database.transaction(async (tx) => {
      if (!(await deleteLead(tx, workspaceId, leadId))) throw new Refusal('lead_not_found');
      await recordAudit(tx, { workspaceId, by: changedBy(request), action: 'lead.deleted', target: `lead:${leadId}` });
    });
    return { success: true, leadId };
  });
}

/** Refuses what is absent, or nested deeper than anything may walk. */
function jsonBody({ body, headers }: FastifyRequest): unknown {
  if (headers['content-type'] === undefined) throw new Refusal('unsupported_media_type');
  if (body === undefined || isTooDeep(body)) throw new Refusal('invalid_json');
  return body;
}

export function objectBody(body: unknown): Record<string, unknown> | null {
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Record<string, unknown>) : null;
}

function refusalOf(fault: LeadFault): Refusal {
  return new Refusal(fault.code, { details: [{ field: fault.field, issue: fault.code }] });
}
