/**
 * `/api/developer/retention` and `/agents/{agentId}/retention`: for how many days each kind of a call's data is kept. The rules are
 * `src/retention/retention-rules.ts`.
 */
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { CALL_PARTS, type CallPart } from '../../calls/call-parts.ts';
import { MOST_RETENTION_DAYS, type Retention, readRetention, setRetention } from '../../retention/retention-rules.ts';
import type { Database } from '../../store/database.ts';
import { readAgent } from '../../workspaces/agents.ts';
import { AGENTS_PATH, agentParams } from '../agents/agent-routes.ts';
import { changedBy, type Guard } from '../guard.ts';
import { etagOf, expectMatch } from '../settings/etag.ts';
import { given } from '../settings/given.ts';
import { refusing } from '../settings/setting-refusal.ts';

export const RETENTION_PATH = '/api/developer/retention';
export const AGENT_RETENTION_PATH = `${AGENTS_PATH}/:agentId/retention`;

const days = z.int().min(0).max(MOST_RETENTION_DAYS).nullish();
export const retentionBody = z
  .strictObject(Object.fromEntries(CALL_PARTS.map((kind) => [kind, days])) as Record<CallPart, typeof days>)
  .meta({
    id: 'RetentionChange',
    description: "Days by kind; 0: until the next purge after the call's end; null: as the next wider rule has it.",
  });

export function registerRetention(plain: FastifyInstance, guard: Guard, { database }: { database: Database }): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  const reading = { onRequest: guard('settings:read') };
  const writing = { onRequest: guard('settings:write') };

  app.get(RETENTION_PATH, reading, async (request, reply) => {
    const { workspaceId } = request.principal;
    const found = await readRetention(database, { workspaceId, agentId: null });
    reply.header('etag', etagOf(found));
    return found;
  });

  app.patch(RETENTION_PATH, { ...writing, schema: { body: retentionBody } }, async (request, reply) => {
    const scope = { workspaceId: request.principal.workspaceId, agentId: null };
    const expect = expectMatch<Retention>(request, (current) => current);
    const changed = await refusing(
      'agent_not_found',
      setRetention(database, scope, given(request.body), changedBy(request), expect),
    );
    reply.header('etag', etagOf(changed));
    return changed;
  });

  app.get(AGENT_RETENTION_PATH, { ...reading, schema: { params: agentParams } }, async (request, reply) => {
    const { workspaceId, slug } = request.principal;
    const { agentId } = request.params;
    await refusing('agent_not_found', readAgent(database, { slug, agentId }));
    const found = await readRetention(database, { workspaceId, agentId });
    reply.header('etag', etagOf(found));
    return found;
  });

  const ofAgent = { ...writing, schema: { params: agentParams, body: retentionBody } };
  app.patch(AGENT_RETENTION_PATH, ofAgent, async (request, reply) => {
    const { workspaceId } = request.principal;
    const { agentId } = request.params;
    const expect = expectMatch<Retention>(request, (current) => current);
    const changed = await refusing(
      'agent_not_found',
      setRetention(database, { workspaceId, agentId }, given(request.body), changedBy(request), expect),
    );
    reply.header('etag', etagOf(changed));
    return changed;
  });
}
