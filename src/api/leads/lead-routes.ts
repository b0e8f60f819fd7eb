/**
 * `/api/developer/leads` and `/{leadId}` (contract §4): list, read, change, delete. Creating is `create-lead-route.ts`.
 */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Clock } from '../../../media/contract/clock.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { tellOfLead } from '../../leads/lead-event.ts';
import { leadChangeBody, readLeadChange } from '../../leads/lead-fields.ts';
import { changeLead, deleteLead, LEAD_STATUSES, listLeads, readLead } from '../../leads/lead-store.ts';
import { leadView } from '../../leads/lead-view.ts';
import type { Database } from '../../store/database.ts';
import type { WebhookDispatcher } from '../../webhooks/outbox.ts';
import type { CursorCodec } from '../cursor.ts';
import { changedBy, type Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { anyOf, createdBetween, date, id, page, phone, text } from '../query-values.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { changedLeadAnswer, deletedLeadAnswer, leadAnswer, leadsAnswer } from './answers.ts';
import { agentMustDo, FIELD_CODES, jsonBody, LEADS_PATH, objectBody, refusalOf } from './lead-request.ts';

export interface LeadRouteDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  cursors: CursorCodec;
  webhookDispatcher: WebhookDispatcher;
}

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

export function registerLeads(app: FastifyInstance, guard: Guard, deps: LeadRouteDeps): void {
  const route = routesOn(app, guard);
  const { database, clock, cursors } = deps;
  const now = (): Date => new Date(clock.epochMs());

  route({
    method: 'get',
    path: LEADS_PATH,
    id: 'listLeads',
    tag: 'Leads',
    summary: 'Leads, newest first',
    description: 'In pages; filters are combined.',
    scope: 'leads:read',
    query: leadsQuery,
    answers: { 200: json('A page.', leadsAnswer) },
    errors: ['invalid_cursor'],
    async handler(request) {
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
    },
  });

  route({
    method: 'get',
    path: `${LEADS_PATH}/:leadId`,
    id: 'readLead',
    tag: 'Leads',
    summary: 'One lead',
    description: 'As it stands now.',
    scope: 'leads:read',
    params: leadParams,
    answers: { 200: json('The lead.', leadAnswer) },
    errors: ['invalid_lead_id', 'lead_not_found'],
    async handler(request) {
      const { workspaceId, slug } = request.principal;
      const lead = await readLead(database, workspaceId, request.params.leadId);
      if (lead === undefined) throw new Refusal('lead_not_found');
      return leadView(lead, slug);
    },
  });

  route({
    method: 'patch',
    path: `${LEADS_PATH}/:leadId`,
    id: 'changeLead',
    tag: 'Leads',
    summary: 'Change what is given of a lead',
    description: 'null clears; the number can only be changed. `status` takes `new` and `do_not_contact`.',
    scope: 'leads:write',
    params: leadParams,
    ownBody: leadChangeBody,
    answers: { 200: json('The lead after the change.', changedLeadAnswer) },
    errors: [
      ...FIELD_CODES,
      'invalid_status',
      'invalid_lead_id',
      'lead_not_found',
      'agent_not_found',
      'agent_not_outbound',
      'external_id_taken',
    ],
    async handler(request) {
      const { workspaceId, slug } = request.principal;
      const given = objectBody(jsonBody(request));
      if (given === null)
        throw new Refusal('invalid_request', { details: [{ field: '', issue: 'must be an object' }] });
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
      if (deliveryIds.length > 0) deps.webhookDispatcher.dispatch(deliveryIds);
      return { success: true, lead: leadView(lead, slug) };
    },
  });

  route({
    method: 'delete',
    path: `${LEADS_PATH}/:leadId`,
    id: 'deleteLead',
    tag: 'Leads',
    summary: 'Delete a lead',
    description: 'What it held of a person is gone. A call of it that is under way goes on.',
    scope: 'leads:write',
    params: leadParams,
    answers: { 200: json('It is gone.', deletedLeadAnswer) },
    errors: ['invalid_lead_id', 'lead_not_found'],
    async handler(request) {
      const { leadId } = request.params;
      const { workspaceId } = request.principal;
      await database.transaction(async (tx) => {
        if (!(await deleteLead(tx, workspaceId, leadId))) throw new Refusal('lead_not_found');
        await recordAudit(tx, {
          workspaceId,
          by: changedBy(request),
          action: 'lead.deleted',
          target: `lead:${leadId}`,
        });
      });
      return { success: true, leadId };
    },
  });
}
