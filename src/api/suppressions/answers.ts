/** What the routes of the suppression list answer, as zod schemas for the published document. */
import { z } from 'zod';
import { time, uuid } from '../openapi/shared-answers.ts';

export const suppressionsAnswer = z
  .strictObject({
    data: z.array(
      z
        .strictObject({
          phone: z.string().describe('E.164'),
          reason: z.string().nullable(),
          source: z.enum(['api', 'operator', 'call']).describe('`call`: it was asked for in a call'),
          callUuid: uuid.nullable(),
          createdAt: time,
        })
        .meta({ id: 'Suppression' }),
    ),
    nextCursor: z.string().nullable(),
    version: z.int().describe('Raised by every change of the list; each permit to dial names it'),
  })
  .meta({ id: 'Suppressions' });

export const suppressedAnswer = z
  .strictObject({ success: z.literal(true), added: z.int(), known: z.int().describe('Were on the list before') })
  .meta({ id: 'Suppressed' });

export const unsuppressedAnswer = z
  .strictObject({ success: z.literal(true), phone: z.string() })
  .meta({ id: 'Unsuppressed' });
