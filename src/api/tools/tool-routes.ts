/**
 * `GET /api/developer/agents/{agentId}/tools` (contract §14): how the tools of an agent did, in their last 100 uses
 * each.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { listAgentsOf } from '../../agents/stored-agents.ts';
import type { Queryable } from '../../store/database.ts';
import { toolFigures } from '../../tools/tool-log.ts';
import type { Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { toolsAnswer } from './answers.ts';

const uuid = z.uuid();
const { format, pattern } = z.toJSONSchema(uuid);
/** Published as what it is; any other text names no agent. */
const agentIdText = z.string().meta({ format, pattern });

export function registerTools(app: FastifyInstance, guard: Guard, deps: { database: Queryable }): void {
  const route = routesOn(app, guard);
  route({
    method: 'get',
    path: '/api/developer/agents/:agentId/tools',
    id: 'readAgentTools',
    tag: 'Directory',
    summary: 'How the tools of an agent did',
    description: 'Each tool with its last 100 uses, newest first. Neither arguments nor answers are kept.',
    scope: 'agents:read',
    params: z.object({ agentId: agentIdText }),
    answers: { 200: json('All tools of the agent that were used.', toolsAnswer) },
    errors: ['agent_not_found'],
    async handler(request) {
      const { workspaceId } = request.principal;
      const agentId = request.params.agentId.toLowerCase();
      const known = uuid.safeParse(agentId).success ? await listAgentsOf(deps.database, workspaceId) : [];
      if (!known.some((agent) => agent.id === agentId)) throw new Refusal('agent_not_found');
      return { data: await toolFigures(deps.database, { workspaceId, agentId }), nextCursor: null };
    },
  });
}
