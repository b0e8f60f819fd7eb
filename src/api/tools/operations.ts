/** The route of tools, described for the published document. */
import { z } from 'zod';
import { json, KEYED, none, type Operation, RATE_HEADERS } from '../openapi/operation.ts';
import { uuid } from '../openapi/shared-answers.ts';
import { toolsAnswer } from './answers.ts';

export const toolOperations: readonly Operation[] = [
  {
    ...none,
    method: 'get',
    route: '/api/developer/agents/:agentId/tools',
    id: 'readAgentTools',
    tag: 'Directory',
    summary: 'How the tools of an agent did',
    description: 'Each tool with its last 100 uses, newest first. Neither arguments nor answers are kept.',
    scope: 'agents:read',
    params: z.object({ agentId: uuid }),
    answers: { 200: json('All tools of the agent that were used.', toolsAnswer, RATE_HEADERS) },
    errors: [...KEYED, 'agent_not_found'],
  },
];
