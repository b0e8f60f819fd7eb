/**
 * `/api/developer/retention` and `/agents/{agentId}/retention`: for how many days each kind of a call's data is kept.
 * The rules are `src/retention/retention-rules.ts`.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { readAgent } from '../../agents/stored-agents.ts';
import { CALL_PARTS, type CallPart } from '../../calls/call-parts.ts';
import { MOST_RETENTION_DAYS, type Retention, readRetention, setRetention } from '../../retention/retention-rules.ts';
import type { Database } from '../../store/database.ts';
import { AGENTS_PATH, agentParams } from '../agents/agent-routes.ts';
import { changedBy, type Guard } from '../guard.ts';
import { ETAG, json } from '../openapi/operation.ts';
import { routesOn } from '../route.ts';
import { etagOf, expectMatch } from '../settings/etag.ts';
import { given } from '../settings/given.ts';
import { refusing } from '../settings/setting-refusal.ts';
import { retentionAnswer } from './answers.ts';

export const RETENTION_PATH = '/api/developer/retention';
export const AGENT_RETENTION_PATH = `${AGENTS_PATH}/:agentId/retention`;

const days = z.int().min(0).max(MOST_RETENTION_DAYS).nullish();
export const retentionBody = z
  .strictObject(Object.fromEntries(CALL_PARTS.map((kind) => [kind, days])) as Record<CallPart, typeof days>)
  .meta({
    id: 'RetentionChange',
    description: "Days by kind; 0: until the next purge after the call's end; null: as the next wider rule has it.",
  });

export function registerRetention(app: FastifyInstance, guard: Guard, { database }: { database: Database }): void {
  const route = routesOn(app, guard);

  route({
    method: 'get',
    path: RETENTION_PATH,
    id: 'readRetention',
    tag: 'Settings',
    summary: 'For how long what is kept of calls is kept',
    description: '365 days where nothing else was set.',
    scope: 'settings:read',
    answers: { 200: json('Days by kind.', retentionAnswer, ETAG) },
    async handler(request, reply) {
      const { workspaceId } = request.principal;
      const found = await readRetention(database, { workspaceId, agentId: null });
      reply.header('etag', etagOf(found));
      return found;
    },
  });

  route({
    method: 'patch',
    path: RETENTION_PATH,
    id: 'changeRetention',
    tag: 'Settings',
    summary: 'Change for how long it is kept',
    description:
      'Only the kinds that are given. The next purge follows it, for calls that are over too; what is under a legal hold stays.',
    scope: 'settings:write',
    ifMatch: true,
    body: retentionBody,
    answers: { 200: json('Days by kind.', retentionAnswer, ETAG) },
    errors: ['agent_not_found', 'setting_refused'],
    async handler(request, reply) {
      const scope = { workspaceId: request.principal.workspaceId, agentId: null };
      const expect = expectMatch<Retention>(request, (current) => current);
      const changed = await refusing(
        'agent_not_found',
        setRetention(database, scope, given(request.body), changedBy(request), expect),
      );
      reply.header('etag', etagOf(changed));
      return changed;
    },
  });

  route({
    method: 'get',
    path: AGENT_RETENTION_PATH,
    id: 'readAgentRetention',
    tag: 'Settings',
    summary: "For how long what is kept of an agent's calls is kept",
    description: "Its own rules, else the workspace's.",
    scope: 'settings:read',
    params: agentParams,
    answers: { 200: json('Days by kind.', retentionAnswer, ETAG) },
    errors: ['agent_not_found'],
    async handler(request, reply) {
      const { workspaceId, slug } = request.principal;
      const { agentId } = request.params;
      await refusing('agent_not_found', readAgent(database, { slug, agentId }));
      const found = await readRetention(database, { workspaceId, agentId });
      reply.header('etag', etagOf(found));
      return found;
    },
  });

  route({
    method: 'patch',
    path: AGENT_RETENTION_PATH,
    id: 'changeAgentRetention',
    tag: 'Settings',
    summary: "Change for how long an agent's calls are kept",
    description: "Null for a kind: the workspace's rule holds again.",
    scope: 'settings:write',
    ifMatch: true,
    params: agentParams,
    body: retentionBody,
    answers: { 200: json('Days by kind.', retentionAnswer, ETAG) },
    errors: ['agent_not_found', 'setting_refused'],
    async handler(request, reply) {
      const { workspaceId } = request.principal;
      const { agentId } = request.params;
      const expect = expectMatch<Retention>(request, (current) => current);
      const changed = await refusing(
        'agent_not_found',
        setRetention(database, { workspaceId, agentId }, given(request.body), changedBy(request), expect),
      );
      reply.header('etag', etagOf(changed));
      return changed;
    },
  });
}
