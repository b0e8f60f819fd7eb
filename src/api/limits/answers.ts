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

const caps = {
  concurrentCalls: z.int().describe('Calls at once, phone and web together'),
  callsPerSecond: z.int().describe('New calls a second'),
  apiRequestsPerSecond: z.int().describe('Of each key'),
  apiBurst: z.int().describe('Of each key'),
  webSessions: z.int().describe('Web sessions at once'),
};
export const limitSettingsAnswer = z
  .strictObject({
    limits: z.strictObject({
      ...caps,
      reservedPhoneCalls: z.int().describe('Of the calls, never given to web sessions'),
    }),
    caps: z.strictObject(caps).describe('The most that the operator allows'),
  })
  .meta({ id: 'LimitSettings' });
