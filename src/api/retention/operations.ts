/** The routes of retention, described for the published document. */
import { z } from 'zod';
import { CALL_PARTS } from '../../calls/call-parts.ts';
import { agentParams } from '../agents/agent-routes.ts';
import { json, KEYED, type Operation } from '../openapi/operation.ts';
import { CHANGING, IF_MATCH, settings, TAGGED } from '../settings/described.ts';
import { AGENT_RETENTION_PATH, RETENTION_PATH, retentionBody } from './retention-routes.ts';

const retentionAnswer = z
  .strictObject(Object.fromEntries(CALL_PARTS.map((kind) => [kind, z.int()])))
  .meta({ id: 'Retention', description: 'Days by kind, as they hold' });
const reading = { ...settings, method: 'get', scope: 'settings:read' } as const;
const changing = { ...settings, method: 'patch', scope: 'settings:write', headers: IF_MATCH } as const;

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
