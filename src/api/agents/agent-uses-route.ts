/** `GET /api/developer/agents/{agentId}/uses`: who would notice that an agent is changed or taken away. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Clock } from '../../../media/contract/clock.ts';
import { readAgent } from '../../agents/stored-agents.ts';
import { readAgentUses } from '../../overview/agent-uses.ts';
import type { Database } from '../../store/database.ts';
import type { Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { time } from '../openapi/shared-answers.ts';
import { routesOn } from '../route.ts';
import { refusing } from '../settings/setting-refusal.ts';
import { AGENTS_PATH, agentParams } from './agent-routes.ts';

const agentUsesAnswer = z
  .strictObject({
    liveCalls: z.int(),
    calls: z.int().describe('Of the last 30 days; 10,000 are that many or more'),
    lastCallAt: time.nullable(),
    leads: z.int().describe('That name it'),
    isDefault: z.boolean().describe('Calls of leads that name no agent are its'),
    lineNumber: z.string().nullable().describe("Of its calls of leads; null: the workspace's"),
    websites: z
      .array(z.strictObject({ name: z.string(), publicKey: z.string() }))
      .describe('Keys of websites, any of which may ask for it'),
    clips: z.array(z.string()).describe('That its current version plays'),
    connections: z.array(z.string()).describe('That its current version names'),
  })
  .meta({ id: 'AgentUses' });

export function registerAgentUses(
  app: FastifyInstance,
  guard: Guard,
  { database, clock }: { database: Database; clock: Clock },
): void {
  const route = routesOn(app, guard);
  route({
    method: 'get',
    path: `${AGENTS_PATH}/:agentId/uses`,
    id: 'readAgentUses',
    tag: 'Settings',
    summary: 'Who uses an agent',
    description: 'Calls, leads, settings and websites; and the clips and connections that it needs itself.',
    scope: 'settings:read',
    params: agentParams,
    answers: { 200: json('Its uses.', agentUsesAnswer) },
    errors: ['agent_not_found'],
    async handler(request) {
      const { workspaceId, slug } = request.principal;
      const { agentId } = request.params;
      await refusing('agent_not_found', readAgent(database, { slug, agentId }));
      return readAgentUses(database, { workspaceId, agentId, nowEpochMs: clock.epochMs() });
    },
  });
}
