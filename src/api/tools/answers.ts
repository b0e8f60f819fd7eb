/** What the routes of tools answer, as zod schemas for the published document. */
import { z } from 'zod';
import { TOOL_FAILURES } from '../../../media/contract/tools.ts';
import { time, uuid, wholeList } from '../openapi/shared-answers.ts';

const count = z.int().min(0);
const ms = z.int().min(0).nullable();
const figures = {
  uses: count.describe('The last 100 at most; the figures are of these'),
  failed: count,
  cancelled: count.describe('The call ended first'),
  p50Ms: ms.describe('From the ask to the result'),
  p95Ms: ms,
};

export const toolsAnswer = z
  .strictObject({
    data: z.array(
      z
        .strictObject({
          name: z.string(),
          ...figures,
          last: z.array(
            z.strictObject({
              callUuid: uuid,
              ms,
              status: z.int().nullable().describe('Of HTTP, where there was an answer'),
              outcome: z.enum(['ok', 'failed', 'cancelled']).nullable().describe('Null: at work'),
              error: z.enum(TOOL_FAILURES).nullable(),
              toolCallId: z.string(),
              startedAt: time,
            }),
          ),
        })
        .meta({ id: 'ToolFigures' }),
    ),
    nextCursor: z.null(),
  })
  .meta({ id: 'Tools' });

export const listedToolsAnswer = wholeList(
  z
    .strictObject({
      agentId: uuid,
      agentName: z.string(),
      name: z.string(),
      kind: z.enum(['http', 'client']).describe('`client`: the page of a web session does it'),
      description: z.string().nullable(),
      url: z.string().nullable(),
      timeoutMs: z.int(),
      secrets: z.array(z.string()).describe('That its headers name'),
      parameters: z.record(z.string(), z.unknown()).nullable().describe('JSON Schema of its arguments'),
      ...figures,
      lastUsedAt: time.nullable(),
    })
    .meta({ id: 'ListedTool' }),
).meta({ id: 'ListedTools' });

export const toolTrialAnswer = z
  .strictObject({
    url: z.string(),
    headers: z.record(z.string(), z.string()).describe('Of the last request, secrets by their names'),
    body: z.string(),
    attempts: z.int().describe('0: nothing was sent'),
    isSigned: z.boolean(),
    ms: z.int(),
    answer: z.strictObject({
      ok: z.boolean(),
      status: z.int().nullable().describe('Of HTTP, where there was an answer'),
      result: z.unknown().optional().describe('What the agent gets'),
      code: z.enum(TOOL_FAILURES).optional(),
      message: z.string().optional(),
    }),
    variables: z.record(z.string(), z.string()).describe('What the agent could say'),
  })
  .meta({ id: 'ToolTrial' });
