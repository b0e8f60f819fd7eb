/** What `GET /api/developer/limits` answers, as a zod schema for the published document. */
import { z } from 'zod';
import { uuid } from '../openapi/shared-answers.ts';

export const limitsAnswer = z
  .strictObject({
    calls: z.strictObject({
      limit: z.int().describe('At once, phone and web together'),
      inUse: z.int(),
      reservedForPhone: z.int().describe('Of them, never given to web sessions'),
      perSecond: z.int().describe('New calls'),
    }),
    webSessions: z.strictObject({ limit: z.int(), inUse: z.int() }),
    api: z.strictObject({ requestsPerSecond: z.int(), burst: z.int() }).describe('Of each key'),
    lines: z.array(
      z.strictObject({
        id: uuid.describe('For `from`'),
        number: z.string(),
        limit: z.int().describe('Calls at once'),
        inUse: z.int(),
        perSecond: z.int().describe('New calls'),
      }),
    ),
  })
  .meta({ id: 'Limits' });
