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
import { type LeadFault, type LeadInput, readLeadChange, readNewLead } from '../../leads/lead-fields.ts';
import {
  changeLead,
  deleteLead,
  faultOfAgent,
  knownAgents,
  LEAD_STATUSES,
  listLeads,
  readLead,
  storeLeads,
} from '../../leads/lead-store.ts';
import type { Database } from '../../store/database.ts';
import { finishIdempotent, type IdempotencyScope } from '../../store/idempotency-keys.ts';
import type { WebhookBell } from '../../webhooks/outbox.ts';
import type { Principal } from '../authentication.ts';
import type { CursorCodec } from '../cursor.ts';
import { meaningOf } from '../error-codes.ts';
import { changedBy, type Guard } from '../guard.ts';
import { type Answer, answerOnce, idempotencyKeyOf } from '../outbound-call/idempotent-exchange.ts';
import { answeringRefusals, sendStored } from '../outbound-call/stored-answer.ts';
import { anyOf, createdBetween, date, id, page, phone, text } from '../query-values.ts';
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

export const leadsQuery = z.object({
  status: anyOf(z.enum(LEAD_STATUSES), 'The status of the lead'),
  source: anyOf(text(120), 'Its source'),
  agentId: anyOf(id, 'Its agent'),
  phone: anyOf(phone, 'Its number, like +14155550123'),
  externalId: anyOf(text(128), 'Your own id of it'),
  ...createdBetween(date),
  ...page(),
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
    // What was not understood, or is not the key's, leaves its Idempotency-Key free for the mended request.
    const given = objectBody(body);
    if (given === null) throw new Refusal('missing_fields');
    const read = readNewLead(given);
    if (!read.ok) throw refusalOf(read.fault);
    if (given['enterprise'] !== principal.slug) throw new Refusal('unauthorized');
    const scope = key === null ? null : { workspaceId: principal.workspaceId, methodPath: `POST ${LEADS_PATH}`, key };
    const answer = await answerOnce(deps, scope, body, () =>
      answeringRefusals(() => create(principal, read.value, scope, changedBy(request))),
    );
    return sendStored(reply, answer);
  });

  async function create(
    principal: Principal,
    input: LeadInput,
    scope: IdempotencyScope | null,
    by: ChangedBy,
  ): Promise<Answer> {
    await agentMustDo(database, principal.workspaceId, input.agentId);
    return database.transaction(async (tx) => {
      const [stored] = await storeLeads(tx, principal.workspaceId, [input], now());
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

  const listing = { onRequest: guard('leads:read'), schema: { querystring: leadsQuery } };
  app.get(LEADS_PATH, listing, async (request) => {
    const { cursor, limit, ...filters } = request.query;
    const { workspaceId, slug } = request.principal;
    const scope = { kind: 'leads', workspaceId, filters };
    const before = cursor === undefined ? null : (cursors.decode(scope, cursor)[0] ?? null);
    const leads = await listLeads(database, workspaceId, filters, { before, limit: limit + 1 });
    const shown = leads.slice(0, limit);
    return {
      data: shown.map((lead) => leadView(lead, slug)),
      nextCursor: leads.length > limit ? cursors.encode(scope, [shown.at(-1)!.id]) : null,
    };
  });

  const readable = { onRequest: guard('leads:read'), schema: { params: leadParams } };
  const writable = { onRequest: guard('leads:write'), schema: { params: leadParams } };
  app.get(`${LEADS_PATH}/:leadId`, readable, async (request) => {
    const { workspaceId, slug } = request.principal;
    const lead = await readLead(database, workspaceId, request.params.leadId);
    if (lead === undefined) throw new Refusal('lead_not_found');
    return leadView(lead, slug);
  });

  app.patch(`${LEADS_PATH}/:leadId`, writable, async (request) => {
    const { workspaceId, slug } = request.principal;
    const given = objectBody(jsonBody(request));
    if (given === null) throw new Refusal('invalid_request', { details: [{ field: '', issue: 'must be an object' }] });
    const read = readLeadChange(given);
    if (!read.ok) throw refusalOf(read.fault);
    if (given['enterprise'] !== undefined && given['enterprise'] !== slug) throw new Refusal('unauthorized');
    await agentMustDo(database, workspaceId, read.value.agentId);
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
function jsonBody({ body, headers }: FastifyRequest): unknown {
  if (headers['content-type'] === undefined) throw new Refusal('unsupported_media_type');
  if (body === undefined || isTooDeep(body)) throw new Refusal('invalid_json');
  return body;
}

export function objectBody(body: unknown): Record<string, unknown> | null {
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Record<string, unknown>) : null;
}

function refusalOf(fault: LeadFault): Refusal {
  return new Refusal(fault.code, { details: [{ field: fault.field, issue: meaningOf(fault.code) }] });
}
