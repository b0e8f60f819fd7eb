/**
 * `/api/developer/tools` and `/api/developer/agents/{agentId}/tools` (contract §14): which tools there are, how they
 * did in their last 100 uses each, and trying one as a call would use it.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Clock } from '../../../media/contract/clock.ts';
import type { OutboundHttp } from '../../../media/net/outbound-http.ts';
import { listAgentsOf, readAgent } from '../../agents/stored-agents.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import type { Sealer } from '../../sealing/sealer.ts';
import type { Database } from '../../store/database.ts';
import { listTools } from '../../tools/tool-list.ts';
import { toolFigures } from '../../tools/tool-log.ts';
import { tryTool } from '../../tools/try-tool.ts';
import { changedBy, type Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { refusing } from '../settings/setting-refusal.ts';
import { listedToolsAnswer, toolsAnswer, toolTrialAnswer } from './answers.ts';

export interface ToolRouteDeps {
  database: Database;
  sealer: Sealer;
  clock: Clock;
  /** The guarded way out, which calls take too. */
  toolHttp: Pick<OutboundHttp, 'send'>;
}

const uuid = z.uuid();
const { format, pattern } = z.toJSONSchema(uuid);
/** Published as what it is; any other text names no agent. */
const agentIdText = z.string().meta({ format, pattern });

const agentId = z.guid({ error: 'must be a UUID' }).transform((id) => id.toLowerCase());
export const toolParams = z.object({ agentId, toolName: z.string().min(1).max(48) });
export const toolTrialBody = z
  .strictObject({
    arguments: z.record(z.string(), z.unknown()).default({}).meta({ description: 'Held to the tool’s `parameters`' }),
  })
  .meta({ id: 'ToolTrialRequest' });

export function registerTools(app: FastifyInstance, guard: Guard, deps: ToolRouteDeps): void {
  const route = routesOn(app, guard);
  const { database } = deps;

  route({
    method: 'get',
    path: '/api/developer/tools',
    id: 'listTools',
    tag: 'Settings',
    summary: 'The tools of all agents',
    description: 'As the current versions have them, each with how its last 100 uses went.',
    scope: 'settings:read',
    answers: { 200: json('All of them.', listedToolsAnswer) },
    handler: async (request) => ({ data: await listTools(database, request.principal.workspaceId), nextCursor: null }),
  });

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
      const known = uuid.safeParse(agentId).success ? await listAgentsOf(database, workspaceId) : [];
      if (!known.some((agent) => agent.id === agentId)) throw new Refusal('agent_not_found');
      return { data: await toolFigures(database, { workspaceId, agentId }), nextCursor: null };
    },
  });

  route({
    method: 'post',
    path: '/api/developer/agents/:agentId/tools/:toolName/test',
    id: 'testTool',
    tag: 'Settings',
    summary: 'Try a tool by the request that a call would make',
    description:
      'Really sent, once; with the secrets of the workspace, which are not shown. Answers 200 whatever came of it. Nothing is kept.',
    scope: 'settings:write',
    params: toolParams,
    body: toolTrialBody,
    answers: { 200: json('What was sent, and what came of it.', toolTrialAnswer) },
    errors: ['agent_not_found', 'tool_not_found', 'setting_refused'],
    async handler(request) {
      const { workspaceId, slug } = request.principal;
      const { agentId, toolName } = request.params;
      await refusing('agent_not_found', readAgent(database, { slug, agentId }));
      const asked = { workspaceId, agentId, name: toolName, arguments: request.body.arguments };
      const trial = await refusing('tool_not_found', tryTool({ ...deps, http: deps.toolHttp }, asked));
      await recordAudit(database, {
        ...{ workspaceId, by: changedBy(request), action: 'tool.tested', target: `agent:${agentId}` },
        after: { tool: toolName },
      });
      return trial;
    },
  });
}
