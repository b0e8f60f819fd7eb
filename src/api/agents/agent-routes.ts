/**
 * `/api/developer/agents`: read, create, change, go back to an old version, delete. A definition is checked whole and never changed:
 * each change is a new version, and a live call keeps the one that it began with. The rules are `src/workspaces/agents.ts`; the
 * command line runs the same functions.
 */
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { setAgentLine } from '../../suppressions/calling-policy.ts';
import {
  type AgentDetail,
  activateAgentVersion,
  changeAgent,
  deleteAgent,
  importAgent,
  listAgentsOf,
  listAgentVersions,
  readAgent,
  type StoredAgent,
} from '../../workspaces/agents.ts';
import { changedBy, type Guard } from '../guard.ts';
import { type CreateOnceDeps, createOnce } from '../settings/create-once.ts';
import { agentTag, expectTag, versionOfMatch } from '../settings/etag.ts';
import { refusing } from '../settings/setting-refusal.ts';

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

export function registerAgents(plain: FastifyInstance, guard: Guard, deps: CreateOnceDeps): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  const { database } = deps;
  const reading = { onRequest: guard('settings:read') };
  const writing = { onRequest: guard('settings:write') };
  const one = `${AGENTS_PATH}/:agentId`;
  const stored = ({ lineId: _lineId, ...agent }: StoredAgent) => ({ success: true, agent });
  const created = (agent: StoredAgent) => ({ status: 201, body: stored(agent), headers: { etag: agentTag(agent) } });

  app.get(AGENTS_PATH, { onRequest: guard('agents:read') }, async (request) => ({
    data: await listAgentsOf(database, request.principal.workspaceId),
    nextCursor: null,
  }));

  app.post(AGENTS_PATH, { ...writing, schema: { body: agentBody } }, (request, reply) =>
    createOnce<StoredAgent>(deps, request, reply, {
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
  );

  app.get(one, { ...reading, schema: { params: agentParams } }, async (request, reply) => {
    const named = { slug: request.principal.slug, agentId: request.params.agentId };
    const agent = await refusing('agent_not_found', readAgent(database, named));
    reply.header('etag', agentTag(agent));
    return agent;
  });

  app.patch(one, { ...writing, schema: { params: agentParams, body: agentLineBody } }, async (request, reply) => {
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
  });

  app.delete(one, { ...writing, schema: { params: agentParams } }, async (request) => {
    const { agentId } = request.params;
    const ifVersion = versionOfMatch(request);
    const named = { slug: request.principal.slug, agentId, ifVersion, by: changedBy(request) };
    await refusing('agent_not_found', deleteAgent(database, named));
    return { success: true, agentId };
  });

  app.get(`${one}/versions`, { ...reading, schema: { params: agentParams } }, async (request) => {
    const named = { slug: request.principal.slug, agentId: request.params.agentId };
    return { data: await refusing('agent_not_found', listAgentVersions(database, named)), nextCursor: null };
  });

  app.post(`${one}/versions`, { ...writing, schema: { params: agentParams, body: agentBody } }, (request, reply) => {
    const ifVersion = versionOfMatch(request);
    return createOnce<StoredAgent>(deps, request, reply, {
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
  });

  app.get(`${one}/versions/:version`, { ...reading, schema: { params: agentVersionParams } }, (request) => {
    const { agentId, version } = request.params;
    return refusing('agent_not_found', readAgent(database, { slug: request.principal.slug, agentId, version }));
  });

  app.post(
    `${one}/versions/:version/activate`,
    { ...writing, schema: { params: agentVersionParams } },
    async (request, reply) => {
      const { agentId, version } = request.params;
      const ifVersion = versionOfMatch(request);
      const named = { slug: request.principal.slug, agentId, version, ifVersion, by: changedBy(request) };
      const agent = await refusing('agent_not_found', activateAgentVersion(database, named));
      reply.header('etag', agentTag(agent));
      return stored(agent);
    },
  );
}
