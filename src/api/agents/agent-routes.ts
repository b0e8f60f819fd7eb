/**
 * `/api/developer/agents`: read, create, change, go back to an old version, delete. A definition is checked whole and
 * never changed: each change is a new version, and an active call keeps the one that it began with. The rules are
 * `src/agents/stored-agents.ts`; the command line runs the same functions.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import {
  type AgentDetail,
  activateAgentVersion,
  changeAgent,
  deleteAgent,
  type ImportedAgent,
  importAgent,
  listAgentsOf,
  listAgentVersions,
  readAgent,
} from '../../agents/stored-agents.ts';
import { setAgentLine } from '../../suppressions/calling-policy.ts';
import { changedBy, type Guard } from '../guard.ts';
import { ETAG, json } from '../openapi/operation.ts';
import { routesOn } from '../route.ts';
import { type CreateOnceDeps, createOnce } from '../settings/create-once.ts';
import { agentTag, expectTag, versionOfMatch } from '../settings/etag.ts';
import { refusing } from '../settings/setting-refusal.ts';
import { agentAnswer, agentsAnswer, agentVersionsAnswer, deletedAgentAnswer, storedAgentAnswer } from './answers.ts';

export const AGENTS_PATH = '/api/developer/agents';

const agentId = z.guid({ error: 'must be a UUID' }).transform((id) => id.toLowerCase());
export const agentParams = z.object({ agentId });
export const agentVersionParams = z.object({ agentId, version: z.coerce.number().int().min(1).max(999_999_999) });

export const agentBody = z
  .strictObject({
    definition: z.record(z.string(), z.unknown()).meta({
      description: 'As docs/agents.md has it, tools included. Checked whole; all faults come with their paths.',
    }),
  })
  .meta({ id: 'AgentRequest' });

export const agentLineBody = z
  .strictObject({
    lineId: z.guid({ error: 'must be a UUID' }).nullable().meta({ description: "Null: the workspace's default line" }),
  })
  .meta({ id: 'AgentLineRequest' });

const VERSION = { ETag: 'Its version and, if it has one, its own line, for If-Match' };

export function registerAgents(app: FastifyInstance, guard: Guard, deps: CreateOnceDeps): void {
  const route = routesOn(app, guard);
  const { database } = deps;
  const one = `${AGENTS_PATH}/:agentId`;
  const stored = ({ lineId: _lineId, warnings, ...agent }: ImportedAgent) => ({ success: true, agent, warnings });
  const created = (agent: ImportedAgent) => ({ status: 201, body: stored(agent), headers: { etag: agentTag(agent) } });

  route({
    method: 'get',
    path: AGENTS_PATH,
    id: 'listAgents',
    tag: 'Directory',
    summary: 'The agents of the workspace',
    description: 'Their ids are what `agentId` wants.',
    scope: 'agents:read',
    answers: { 200: json('All of them.', agentsAnswer) },
    handler: async (request) => ({
      data: await listAgentsOf(database, request.principal.workspaceId),
      nextCursor: null,
    }),
  });

  route({
    method: 'post',
    path: AGENTS_PATH,
    id: 'createAgent',
    tag: 'Settings',
    summary: 'Make an agent of a definition',
    description:
      'The definition is checked whole; a faulty one is not stored, and `details` has each fault with its path.',
    scope: 'settings:write',
    once: true,
    body: agentBody,
    answers: { 201: json('The agent, version 1.', storedAgentAnswer, VERSION) },
    errors: ['invalid_agent', 'setting_refused', 'already_exists'],
    handler: (request, reply) =>
      createOnce<ImportedAgent>(deps, request, reply, {
        run: (once) =>
          refusing(
            'agent_not_found',
            importAgent(once, {
              slug: request.principal.slug,
              definition: request.body.definition,
              by: changedBy(request),
            }),
          ),
        answer: created,
      }),
  });

  route({
    method: 'get',
    path: one,
    id: 'readAgent',
    tag: 'Settings',
    summary: 'An agent with its current definition',
    description: 'What the next call will use.',
    scope: 'settings:read',
    params: agentParams,
    answers: { 200: json('The agent.', agentAnswer, ETAG) },
    errors: ['agent_not_found'],
    async handler(request, reply) {
      const named = { slug: request.principal.slug, agentId: request.params.agentId };
      const agent = await refusing('agent_not_found', readAgent(database, named));
      reply.header('etag', agentTag(agent));
      return agent;
    },
  });

  route({
    method: 'patch',
    path: one,
    id: 'setAgentLine',
    tag: 'Settings',
    summary: "Choose the line of an agent's calls of leads",
    description: 'For those that name none.',
    scope: 'settings:write',
    ifMatch: true,
    params: agentParams,
    body: agentLineBody,
    answers: { 200: json('The agent.', agentAnswer, ETAG) },
    errors: ['agent_not_found', 'line_not_found', 'setting_refused'],
    async handler(request, reply) {
      const { workspaceId, slug } = request.principal;
      const { agentId } = request.params;
      await refusing('agent_not_found', readAgent(database, { slug, agentId }));
      const lineId = request.body.lineId?.toLowerCase() ?? null;
      const expect = expectTag<Pick<AgentDetail, 'version' | 'lineId'>>(request, agentTag);
      const change = { agentId, lineId, by: changedBy(request), expect };
      await refusing('line_not_found', setAgentLine(database, workspaceId, change));
      const changed = await refusing('agent_not_found', readAgent(database, { slug, agentId }));
      reply.header('etag', agentTag(changed));
      return changed;
    },
  });

  route({
    method: 'delete',
    path: one,
    id: 'deleteAgent',
    tag: 'Settings',
    summary: 'Take an agent out of use',
    description: 'It gets no new calls; its live calls go on, and the call log keeps its id.',
    scope: 'settings:write',
    ifMatch: true,
    params: agentParams,
    answers: { 200: json('It is gone.', deletedAgentAnswer) },
    errors: ['agent_not_found', 'setting_refused'],
    async handler(request) {
      const { agentId } = request.params;
      const ifVersion = versionOfMatch(request);
      const named = { slug: request.principal.slug, agentId, ifVersion, by: changedBy(request) };
      await refusing('agent_not_found', deleteAgent(database, named));
      return { success: true, agentId };
    },
  });

  route({
    method: 'get',
    path: `${one}/versions`,
    id: 'listAgentVersions',
    tag: 'Settings',
    summary: 'The versions of an agent',
    description: 'Newest first. Each is kept as it was stored.',
    scope: 'settings:read',
    params: agentParams,
    answers: { 200: json('All of them.', agentVersionsAnswer) },
    errors: ['agent_not_found'],
    async handler(request) {
      const named = { slug: request.principal.slug, agentId: request.params.agentId };
      return { data: await refusing('agent_not_found', listAgentVersions(database, named)), nextCursor: null };
    },
  });

  route({
    method: 'post',
    path: `${one}/versions`,
    id: 'createAgentVersion',
    tag: 'Settings',
    summary: 'Store the next version of an agent',
    description: 'New calls use it at once; live calls keep the version that they began with.',
    scope: 'settings:write',
    once: true,
    ifMatch: true,
    params: agentParams,
    body: agentBody,
    answers: { 201: json('The agent with its new version.', storedAgentAnswer, VERSION) },
    errors: ['agent_not_found', 'invalid_agent', 'setting_refused', 'already_exists'],
    handler(request, reply) {
      const ifVersion = versionOfMatch(request);
      return createOnce<ImportedAgent>(deps, request, reply, {
        run: (once) =>
          refusing(
            'agent_not_found',
            changeAgent(once, {
              slug: request.principal.slug,
              agentId: request.params.agentId,
              definition: request.body.definition,
              ifVersion,
              by: changedBy(request),
            }),
          ),
        answer: created,
      });
    },
  });

  route({
    method: 'get',
    path: `${one}/versions/:version`,
    id: 'readAgentVersion',
    tag: 'Settings',
    summary: 'An agent with the definition of one version',
    description: 'Also of one that is not current.',
    scope: 'settings:read',
    params: agentVersionParams,
    answers: { 200: json('The agent.', agentAnswer) },
    errors: ['agent_not_found', 'agent_version_not_found'],
    handler(request) {
      const { agentId, version } = request.params;
      return refusing('agent_not_found', readAgent(database, { slug: request.principal.slug, agentId, version }));
    },
  });

  route({
    method: 'post',
    path: `${one}/versions/:version/activate`,
    id: 'activateAgentVersion',
    tag: 'Settings',
    summary: 'Go back to a version',
    description:
      'New calls use it at once. It keeps its number; the next one that is stored gets a number that none had.',
    scope: 'settings:write',
    ifMatch: true,
    params: agentVersionParams,
    answers: { 200: json('The agent.', storedAgentAnswer, VERSION) },
    errors: ['agent_not_found', 'agent_version_not_found', 'invalid_agent', 'setting_refused'],
    async handler(request, reply) {
      const { agentId, version } = request.params;
      const ifVersion = versionOfMatch(request);
      const named = { slug: request.principal.slug, agentId, version, ifVersion, by: changedBy(request) };
      const agent = await refusing('agent_not_found', activateAgentVersion(database, named));
      reply.header('etag', agentTag(agent));
      return stored(agent);
    },
  });
}
