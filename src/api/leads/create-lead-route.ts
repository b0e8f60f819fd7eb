/**
 * `POST /api/developer/leads` (contract §4). An operation of the specification: its errors have two keys, and its
 * answer exactly the keys of the contract.
 */
import type { FastifyInstance } from 'fastify';
import type { ChangedBy } from '../../audit/audit-entry.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { type LeadInput, newLeadBody, readNewLead } from '../../leads/lead-fields.ts';
import { readLead, storeLeads } from '../../leads/lead-store.ts';
import { createdLeadView } from '../../leads/lead-view.ts';
import { finishIdempotent, type IdempotencyScope } from '../../store/idempotency-keys.ts';
import type { Principal } from '../authentication.ts';
import { changedBy, type Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { beginExchange, idempotencyKeyOf, orRefused } from '../outbound-call/idempotent-exchange.ts';
import { type Answer, sendStored } from '../outbound-call/stored-answer.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { createdLeadAnswer } from './answers.ts';
import { agentMustDo, FIELD_CODES, jsonBody, LEADS_PATH, objectBody, refusalOf } from './lead-request.ts';
import type { LeadRouteDeps } from './lead-routes.ts';

export function registerCreateLead(app: FastifyInstance, guard: Guard, deps: LeadRouteDeps): void {
  const route = routesOn(app, guard);

  route({
    method: 'post',
    path: LEADS_PATH,
    id: 'createLead',
    tag: 'Leads',
    summary: 'Create a lead, or change the one with this externalId',
    description:
      'The same number again makes another lead, whose `duplicateOf` names the oldest. The same `externalId` changes what is given of the lead that has it.',
    scope: 'leads:write',
    specified: true,
    plain429: true,
    once: true,
    ownBody: newLeadBody,
    answers: {
      200: json('The lead with this `externalId`, changed.', createdLeadAnswer),
      201: json('The new lead.', createdLeadAnswer),
    },
    errors: ['missing_fields', ...FIELD_CODES, 'agent_not_found', 'agent_not_outbound'],
    async handler(request, reply) {
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
      const exchange = await beginExchange(deps, scope, body);
      if (exchange.answer !== null) return sendStored(reply, exchange.answer);
      const created = createLead(deps, principal, read.value, scope, changedBy(request));
      return sendStored(reply, await exchange.settle(orRefused(created)));
    },
  });
}

async function createLead(
  { database, clock }: LeadRouteDeps,
  principal: Principal,
  input: LeadInput,
  scope: IdempotencyScope | null,
  by: ChangedBy,
): Promise<Answer> {
  await agentMustDo(database, principal.workspaceId, input.agentId);
  return database.transaction(async (tx) => {
    const [stored] = await storeLeads(tx, principal.workspaceId, [input], new Date(clock.epochMs()));
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
