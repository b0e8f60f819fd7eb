/** The routes of leads, described for the published document. */
import { leadChangeBody, newLeadBody } from '../../leads/lead-fields.ts';
import { BODY, COMMON, json, KEYED, none, type Operation, RATE_HEADERS } from '../openapi/operation.ts';
import { createdLeadAnswer, deletedLeadAnswer, leadAnswer, leadsAnswer } from './answers.ts';
import { LEADS_PATH, leadParams, leadsQuery } from './lead-routes.ts';

const FIELD_CODES = [
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

export const IDEMPOTENCY_CODES = [
  'invalid_idempotency_key',
  'request_in_progress',
  'idempotency_state_unknown',
  'idempotency_key_reused',
] as const;

export const leadOperations: readonly Operation[] = [
  {
    ...none,
    method: 'post',
    route: LEADS_PATH,
    id: 'createLead',
    tag: 'Leads',
    summary: 'Create a lead, or change the one with this externalId',
    description:
      'The same number again makes another lead, whose `duplicateOf` names the oldest. The same `externalId` changes what is given of the lead that has it.',
    scope: 'leads:write',
    specified: true,
    headers: {
      'Idempotency-Key': '1 to 255 letters, digits, _ or -. The same key and body within 24 h get the same answer.',
    },
    body: newLeadBody,
    answers: {
      200: json('The lead with this `externalId`, changed.', createdLeadAnswer, RATE_HEADERS),
      201: json('The new lead.', createdLeadAnswer, {
        ...RATE_HEADERS,
        'Idempotent-Replayed': '`true` when the answer was stored before',
      }),
    },
    errors: [
      'unauthorized',
      'auth_rate_limit',
      'api_rate_limit',
      ...BODY,
      'missing_fields',
      ...FIELD_CODES,
      'agent_not_found',
      ...IDEMPOTENCY_CODES,
      ...COMMON,
    ],
  },
  {
    ...none,
    method: 'get',
    route: LEADS_PATH,
    id: 'listLeads',
    tag: 'Leads',
    summary: 'Leads, newest first',
    description: 'In pages; filters are combined.',
    scope: 'leads:read',
    query: leadsQuery,
    answers: { 200: json('A page.', leadsAnswer, RATE_HEADERS) },
    errors: [...KEYED, 'invalid_request', 'invalid_cursor'],
  },
  {
    ...none,
    method: 'get',
    route: `${LEADS_PATH}/:leadId`,
    id: 'readLead',
    tag: 'Leads',
    summary: 'One lead',
    description: 'As it stands now.',
    scope: 'leads:read',
    params: leadParams,
    answers: { 200: json('The lead.', leadAnswer, RATE_HEADERS) },
    errors: [...KEYED, 'invalid_lead_id', 'lead_not_found'],
  },
  {
    ...none,
    method: 'patch',
    route: `${LEADS_PATH}/:leadId`,
    id: 'changeLead',
    tag: 'Leads',
    summary: 'Change what is given of a lead',
    description: 'null clears; the number can only be changed. `status` takes `new` and `do_not_contact`.',
    scope: 'leads:write',
    params: leadParams,
    body: leadChangeBody,
    answers: { 200: json('The lead after the change.', leadAnswer, RATE_HEADERS) },
    errors: [
      ...KEYED,
      ...BODY,
      ...FIELD_CODES,
      'invalid_request',
      'invalid_status',
      'invalid_lead_id',
      'lead_not_found',
      'agent_not_found',
      'external_id_taken',
    ],
  },
  {
    ...none,
    method: 'delete',
    route: `${LEADS_PATH}/:leadId`,
    id: 'deleteLead',
    tag: 'Leads',
    summary: 'Delete a lead',
    description: 'What it held of a person is gone. A call of it that is under way goes on.',
    scope: 'leads:write',
    params: leadParams,
    answers: { 200: json('It is gone.', deletedLeadAnswer, RATE_HEADERS) },
    errors: [...KEYED, ...BODY, 'invalid_lead_id', 'lead_not_found'],
  },
];
