/** What the route of tools answers, as a zod schema for the published document. */
import { z } from 'zod';
import { TOOL_FAILURES } from '../../../media/contract/tools.ts';
import { time, uuid } from '../openapi/shared-answers.ts';

const count = z.int().min(0);
const ms = z.int().min(0).nullable();

export const toolsAnswer = z
  .strictObject({
    data: z.array(
      z
        .strictObject({
          name: z.string(),
          uses: count.describe('The last 100 at most; the figures are of these'),
          failed: count,
          cancelled: count.describe('The call ended first'),
          p50Ms: ms.describe('From the ask to the result'),
          p95Ms: ms,
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
