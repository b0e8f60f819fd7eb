/**
 * `POST /api/developer/leads/{leadId}/call` (contract §5): a call to a lead, with the decision table and the answers of
 * `POST /api/outbound-call`. A body is not needed. The lead is looked at again, and taken, in placement's transaction.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { isTooDeep } from '../../../media/contract/json-depth.ts';
import { metadataSchema } from '../../calls/metadata.ts';
import type { ErrorCode } from '../../errors/error-codes.ts';
import { withDefaults } from '../../leads/call-defaults.ts';
import { type Lead, readLead } from '../../leads/lead-store.ts';
import { isAbsent } from '../../leads/phone-number.ts';
import type { Principal } from '../authentication.ts';
import { changedBy, type Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { PLACED_HEADERS, PLACING_CODES, PLACING_HEADERS } from '../outbound-call/answers.ts';
import { beginExchange, idempotencyKeyOf, orRefused } from '../outbound-call/idempotent-exchange.ts';
import { type AskedCall, type PlacingDeps, placeAndAnswer } from '../outbound-call/place-and-answer.ts';
import { outboundCallBody } from '../outbound-call/request-body.ts';
import { prefersRepresentation, sendStored } from '../outbound-call/stored-answer.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { leadCalledAnswer } from './answers.ts';
import { LEADS_PATH, objectBody } from './lead-request.ts';
import { leadParams } from './lead-routes.ts';

const { from, agentId, name, metadata } = outboundCallBody.shape;

/** As published in OpenAPI. */
export const leadCallBody = z
  .object({
    from: from.nullish().meta({ description: "Default: the agent's line, then the workspace's" }),
    agentId: agentId.nullish().meta({ description: "Default: the lead's agent, then the workspace's" }),
    name: name.meta({ description: "Default: the lead's name" }),
    metadata: metadata.meta({ description: "Over the lead's own" }),
  })
  .meta({ id: 'LeadCall' });

interface LeadCallRequest {
  from: string | null;
  agentId: string | null;
  name: string | null;
  metadata: Record<string, unknown>;
}

export function registerLeadCall(app: FastifyInstance, guard: Guard, deps: PlacingDeps): void {
  const route = routesOn(app, guard);
  route({
    method: 'post',
    path: `${LEADS_PATH}/:leadId/call`,
    id: 'callLead',
    tag: 'Leads',
    summary: 'Call a lead now',
    description:
      'As POST /api/outbound-call, to the number of the lead and with its name, notes, source and metadata for placeholders. The body may be empty. The status of the lead follows the call.',
    scope: 'calls:write',
    specified: true,
    once: true,
    headers: PLACING_HEADERS,
    params: leadParams,
    ownBody: leadCallBody,
    bodyOptional: true,
    answers: {
      200: json('The carrier has taken the call.', leadCalledAnswer, PLACED_HEADERS),
    },
    errors: [
      'missing_fields',
      'invalid_from',
      'invalid_agentId',
      'invalid_name',
      'invalid_metadata',
      'invalid_lead_id',
      'lead_not_found',
      'lead_active_call',
      'do_not_contact',
      ...PLACING_CODES,
    ],
    async handler(request, reply) {
      const { principal } = request;
      const { leadId } = request.params;
      const body = request.body ?? {};
      if (isTooDeep(body)) throw new Refusal('invalid_json');
      const methodPath = `POST ${LEADS_PATH}/${leadId}/call`;
      const key = idempotencyKeyOf(request.headers['idempotency-key']);
      // What was not understood, or is not the key's, leaves its Idempotency-Key free for the mended request.
      const read = readLeadCall(body, principal.slug);
      if (!read.ok) throw new Refusal(read.code);
      const scope = key === null ? null : { workspaceId: principal.workspaceId, methodPath, key };
      const exchange = await beginExchange(deps, scope, body);
      if (exchange.answer !== null) return sendStored(reply, exchange.answer);
      const placed = leadCall(deps, principal, leadId, read.call).then((call) =>
        placeAndAnswer(deps, {
          ...call,
          idempotencyKey: key,
          idempotencyPath: methodPath,
          requestId: request.id,
          by: changedBy(request),
          fullAnswer: prefersRepresentation(request.headers['prefer']),
        }),
      );
      return sendStored(reply, await exchange.settle(orRefused(placed)));
    },
  });
}

type OfLead = Omit<AskedCall, 'idempotencyKey' | 'idempotencyPath' | 'requestId' | 'by' | 'fullAnswer'>;

async function leadCall(
  deps: PlacingDeps,
  principal: Principal,
  leadId: string,
  call: LeadCallRequest,
): Promise<OfLead> {
  const { workspaceId } = principal;
  const lead = await readLead(deps.database, workspaceId, leadId);
  if (lead === undefined) throw new Refusal('lead_not_found');
  const merged = { ...lead.metadata, ...call.metadata };
  if (!metadataSchema.safeParse(merged).success) throw new Refusal('invalid_metadata');
  const given = { agentId: call.agentId ?? lead.agentId, lineId: call.from };
  const targets = await withDefaults(deps.database, workspaceId, given);
  if (targets.lineId === null && targets.noLine) throw new Refusal('credentials_missing');
  if (targets.lineId === null || targets.agentId === null) throw new Refusal('missing_fields');
  return {
    principal,
    from: targets.lineId,
    agentId: targets.agentId,
    to: lead.phone,
    name: call.name ?? lead.name,
    metadata: merged,
    lead: { id: lead.id, values: valuesOf(lead) },
  };
}

/** `{{notes}}` and `{{source}}` (contract §3). */
function valuesOf({ notes, source }: Lead): Record<string, string> {
  return { ...(notes === null ? {} : { notes }), ...(source === null ? {} : { source }) };
}

function readLeadCall(
  body: unknown,
  slug: string,
): { ok: true; call: LeadCallRequest } | { ok: false; code: ErrorCode } {
  const given = objectBody(body);
  if (given === null) return { ok: false, code: 'missing_fields' };
  const read: Record<string, unknown> = {};
  for (const field of ['from', 'agentId', 'name', 'metadata'] as const) {
    if (isAbsent(given[field])) continue;
    const parsed = leadCallBody.shape[field].safeParse(given[field]);
    if (!parsed.success) return { ok: false, code: `invalid_${field}` };
    read[field] = parsed.data;
  }
  if (!isAbsent(given['enterprise']) && given['enterprise'] !== slug) return { ok: false, code: 'unauthorized' };
  const lowerCase = (value: unknown): string | null => (typeof value === 'string' ? value.toLowerCase() : null);
  const name = typeof read['name'] === 'string' && read['name'].trim() !== '' ? read['name'] : null;
  return {
    ok: true,
    call: {
      from: lowerCase(read['from']),
      agentId: lowerCase(read['agentId']),
      name,
      metadata: (read['metadata'] ?? {}) as Record<string, unknown>,
    },
  };
}
