/** What `POST /api/outbound-call` answers, as a zod schema for the published document. */
import { z } from 'zod';
import { callAnswer } from '../calls/answers.ts';
import { uuid } from '../openapi/shared-answers.ts';

export const placedAnswer = z
  .strictObject({
    success: z.literal(true),
    callUuid: uuid,
    call: callAnswer.optional().describe('With Prefer: return=representation'),
    limits: z
      .strictObject({ concurrencyLimit: z.int(), concurrencyInUse: z.int(), lineCps: z.int() })
      .optional()
      .describe('With Prefer: return=representation'),
  })
  .meta({ id: 'Placed' });
