/** `GET /api/developer/agents/{agentId}/tools` (contract §14): how the tools of an agent did, in their last 100 uses each. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Queryable } from '../../store/database.ts';
import { toolFigures } from '../../tools/tool-log.ts';
import { listAgentsOf } from '../../workspaces/agents.ts';
import type { Guard } from '../guard.ts';
import { Refusal } from '../refusal.ts';

const uuid = z.uuid();

export function registerTools(app: FastifyInstance, guard: Guard, deps: { database: Queryable }): void {
  app.get<{ Params: { agentId: string } }>(
    '/api/developer/agents/:agentId/tools',
    { onRequest: guard('agents:read') },
    async (request) => {
      const { workspaceId } = request.principal;
      const agentId = request.params.agentId.toLowerCase();
      const known = uuid.safeParse(agentId).success ? await listAgentsOf(deps.database, workspaceId) : [];
      if (!known.some((agent) => agent.id === agentId)) throw new Refusal('agent_not_found');
      return { data: await toolFigures(deps.database, { workspaceId, agentId }), nextCursor: null };
    },
  );
}
