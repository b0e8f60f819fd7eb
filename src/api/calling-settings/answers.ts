/** What the routes of the calling settings answer, as a zod schema for the published document. */
import { z } from 'zod';
import { uuid } from '../openapi/shared-answers.ts';

export const callingAnswer = z
  .strictObject({
    window: z
      .strictObject({ start: z.string(), end: z.string(), days: z.array(z.int()), timezone: z.string() })
      .nullable(),
    allowedCountries: z.array(z.string()).nullable(),
    blockedCountries: z.array(z.string()),
    guardCalls: z.boolean(),
    guardLeads: z.boolean(),
    defaultAgentId: uuid.nullable(),
    defaultLineId: uuid.nullable(),
  })
  .meta({ id: 'CallingSettings' });
