/** What the routes of the directory answer, as zod schemas for the published document. */
import { z } from 'zod';
import { ERROR_CODES } from './error-codes.ts';
import { time, uuid, wholeList } from './openapi/shared-answers.ts';

export const agentsAnswer = wholeList(
  z
    .strictObject({
      id: uuid.describe('For `agentId`'),
      name: z.string(),
      direction: z.enum(['outbound', 'inbound', 'web', 'any']),
      version: z.int(),
      createdAt: time,
    })
    .meta({ id: 'Agent' }),
).meta({ id: 'Agents' });

export const phoneNumbersAnswer = wholeList(
  z
    .strictObject({
      id: uuid.describe('For `from`'),
      number: z.string(),
      carrier: z.string(),
      hasCredentials: z.boolean(),
      limits: z.strictObject({ concurrentCalls: z.int(), callsPerSecond: z.int() }),
      createdAt: time,
    })
    .meta({ id: 'PhoneNumber' }),
).meta({ id: 'PhoneNumbers' });

export const errorCodesAnswer = z
  .strictObject({
    data: z.array(
      z.strictObject({ code: z.enum(ERROR_CODES), status: z.int(), message: z.string(), meaning: z.string() }),
    ),
  })
  .meta({ id: 'ErrorCodes' });
