/** What the routes of agents answer, as zod schemas for the published document. */
import { z } from 'zod';
import { time, uuid, wholeList } from '../openapi/shared-answers.ts';

const summary = {
  id: uuid.describe('For `agentId`'),
  name: z.string(),
  direction: z.enum(['outbound', 'inbound', 'web', 'any']),
  version: z.int(),
  createdAt: time,
};
const agent = z.strictObject(summary).meta({ id: 'Agent' });

export const agentsAnswer = wholeList(agent).meta({ id: 'Agents' });
export const storedAgentAnswer = z
  .strictObject({
    success: z.literal(true),
    agent,
    warnings: z
      .array(
        z.strictObject({ path: z.string().describe('As in `tools[0].headers.authorization`'), problem: z.string() }),
      )
      .describe('What was stored all the same, and likely does not do what it was meant to'),
  })
  .meta({ id: 'StoredAgent' });
export const deletedAgentAnswer = z
  .strictObject({ success: z.literal(true), agentId: uuid })
  .meta({ id: 'DeletedAgent' });

export const agentAnswer = z
  .strictObject({
    ...summary,
    version: z.int().describe('That of `definition`'),
    latestVersion: z.int(),
    lineId: uuid.nullable().describe("Of its calls of leads; null: the workspace's"),
    definition: z.record(z.string(), z.unknown()).describe('As docs/agents.md has it'),
  })
  .meta({ id: 'AgentDetail' });

export const agentVersionsAnswer = wholeList(
  z
    .strictObject({ version: z.int(), isCurrent: z.boolean().describe('What new calls use'), createdAt: time })
    .meta({ id: 'AgentVersion' }),
).meta({ id: 'AgentVersions' });
