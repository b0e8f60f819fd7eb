/** What the routes of the model endpoint answer, as a zod schema for the published document. */
import { z } from 'zod';
import { time } from '../openapi/shared-answers.ts';

export const modelEndpointAnswer = z
  .strictObject({
    connection: z.string().describe('The connection that leads to it'),
    baseUrl: z.string(),
    model: z.string(),
    hasKey: z.boolean().describe('It is write-only'),
    updatedAt: time,
  })
  .meta({ id: 'ModelEndpoint' });
