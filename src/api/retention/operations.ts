/** The routes of retention, described for the published document. */
import { z } from 'zod';
import { CALL_PARTS } from '../../calls/call-parts.ts';
import { agentParams } from '../agents/agent-routes.ts';
import { BODY, json, KEYED, type Operation, RATE_HEADERS } from '../openapi/operation.ts';
import { pageOf, time, uuid } from '../openapi/shared-answers.ts';
import { CHANGING, IF_MATCH, settings, TAGGED } from '../settings/described.ts';
import {
  HOLDS_PATH,
  holdParams,
  holdsQuery,
  newHoldBody,
  PURGE_PATH,
  RECEIPTS_PATH,
  receiptsQuery,
} from './hold-routes.ts';
import { AGENT_RETENTION_PATH, RETENTION_PATH, retentionBody } from './retention-routes.ts';

const retentionAnswer = z
  .strictObject(Object.fromEntries(CALL_PARTS.map((kind) => [kind, z.int()])))
  .meta({ id: 'Retention', description: 'Days by kind, as they hold' });
const reading = { ...settings, method: 'get', scope: 'settings:read' } as const;
const changing = { ...settings, method: 'patch', scope: 'settings:write', headers: IF_MATCH } as const;

const hold = z
  .strictObject({
    id: uuid,
    callUuid: uuid.nullable().describe('Null: every call of the workspace'),
    reason: z.string(),
    placedBy: z.string().describe('As in the audit. A key releases only what a key has placed'),
    placedAt: time,
  })
  .meta({ id: 'LegalHold' });
const holdsAnswer = pageOf(hold).meta({ id: 'LegalHolds' });
const placedAnswer = z.strictObject({ success: z.literal(true), hold }).meta({ id: 'PlacedLegalHold' });
const releasedAnswer = z.strictObject({ success: z.literal(true), holdId: uuid }).meta({ id: 'ReleasedLegalHold' });
const callsByKind = z.strictObject(Object.fromEntries(CALL_PARTS.map((kind) => [kind, z.int()])));
const purgedAnswer = z
  .strictObject({
    success: z.literal(true),
    removed: callsByKind.describe('How many calls lost this kind'),
    putOff: z.boolean().describe("Nothing was removed, because the machine's clock was set; ask again in an hour"),
    more: z.boolean().describe('More may be due: ask again'),
  })
  .meta({ id: 'Purged' });
const receiptsAnswer = pageOf(
  z
    .strictObject({
      id: uuid,
      callUuid: uuid,
      kinds: z.array(z.enum(CALL_PARTS)),
      cause: z.enum(['retention', 'erase']),
      actor: z.string(),
      removed: z.record(z.string(), z.unknown()).describe('Rows by what they were; recordings with their SHA-256'),
      at: time,
    })
    .meta({ id: 'PurgeReceipt' }),
).meta({ id: 'PurgeReceipts' });
const page = { ...settings, method: 'get', scope: 'settings:read' } as const;
const writing = { ...settings, scope: 'settings:write' } as const;

export const holdOperations: readonly Operation[] = [
  {
    ...page,
    route: HOLDS_PATH,
    id: 'listLegalHolds',
    summary: 'The legal holds that live, newest first',
    description: 'In pages. With `callUuid`: those that hold one of these calls.',
    query: holdsQuery,
    answers: { 200: json('A page.', holdsAnswer, RATE_HEADERS) },
    errors: ['invalid_cursor', ...KEYED],
  },
  {
    ...writing,
    method: 'post',
    route: HOLDS_PATH,
    id: 'placeLegalHold',
    summary: 'Keep a call, or every call, whatever the days say and whoever asks',
    description: 'Nothing of what is held is removed, by a purge or by a request, until the hold is released.',
    body: newHoldBody,
    answers: { 201: json('It is held.', placedAnswer, RATE_HEADERS) },
    errors: ['call_not_found', ...KEYED, ...BODY],
  },
  {
    ...writing,
    method: 'delete',
    route: `${HOLDS_PATH}/:holdId`,
    id: 'releaseLegalHold',
    summary: 'Release a legal hold',
    description:
      'What is due is removed at the next purge. A hold that the operator has placed, the operator releases.',
    params: holdParams,
    answers: { 200: json('It is released.', releasedAnswer, RATE_HEADERS) },
    errors: ['hold_not_found', 'setting_refused', ...KEYED, ...BODY],
  },
  {
    ...writing,
    method: 'post',
    route: PURGE_PATH,
    id: 'purge',
    summary: 'Remove now what has been kept long enough',
    description: 'The service does so each hour. At most some 1,000 calls a request; what is held stays.',
    answers: { 200: json('It is gone.', purgedAnswer, RATE_HEADERS) },
    errors: [...KEYED, ...BODY],
  },
  {
    ...page,
    route: RECEIPTS_PATH,
    id: 'listPurgeReceipts',
    summary: 'What was removed of calls for good, newest first',
    description: 'In pages; nothing of what is gone is in them.',
    query: receiptsQuery,
    answers: { 200: json('A page.', receiptsAnswer, RATE_HEADERS) },
    errors: ['invalid_cursor', ...KEYED],
  },
];

export const retentionOperations: readonly Operation[] = [
  {
    ...reading,
    route: RETENTION_PATH,
    id: 'readRetention',
    summary: 'For how long what is kept of calls is kept',
    description: '365 days where nothing else was set.',
    answers: { 200: json('Days by kind.', retentionAnswer, TAGGED) },
    errors: KEYED,
  },
  {
    ...changing,
    route: RETENTION_PATH,
    id: 'changeRetention',
    summary: 'Change for how long it is kept',
    description:
      'Only the kinds that are given. The next purge follows it, for calls that are over too; what is under a legal hold stays.',
    body: retentionBody,
    answers: { 200: json('Days by kind.', retentionAnswer, TAGGED) },
    errors: ['agent_not_found', ...CHANGING],
  },
  {
    ...reading,
    route: AGENT_RETENTION_PATH,
    id: 'readAgentRetention',
    summary: "For how long what is kept of an agent's calls is kept",
    description: "Its own rules, else the workspace's.",
    params: agentParams,
    answers: { 200: json('Days by kind.', retentionAnswer, TAGGED) },
    errors: ['agent_not_found', 'invalid_request', ...KEYED],
  },
  {
    ...changing,
    route: AGENT_RETENTION_PATH,
    id: 'changeAgentRetention',
    summary: "Change for how long an agent's calls are kept",
    description: "Null for a kind: the workspace's rule holds again.",
    params: agentParams,
    body: retentionBody,
    answers: { 200: json('Days by kind.', retentionAnswer, TAGGED) },
    errors: ['agent_not_found', ...CHANGING],
  },
];
