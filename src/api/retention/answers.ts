/** What the routes of retention and of legal holds answer, as zod schemas for the published document. */
import { z } from 'zod';
import { CALL_PARTS } from '../../calls/call-parts.ts';
import { pageOf, time, uuid } from '../openapi/shared-answers.ts';

export const retentionAnswer = z
  .strictObject(Object.fromEntries(CALL_PARTS.map((kind) => [kind, z.int()])))
  .meta({ id: 'Retention', description: 'Days by kind, as they hold' });
const hold = z
  .strictObject({
    id: uuid,
    callUuid: uuid.nullable().describe('Null: every call of the workspace'),
    reason: z.string(),
    placedBy: z
      .string()
      .describe('As in the audit. A key releases only what a key has placed, a person also what a person has'),
    placedAt: time,
  })
  .meta({ id: 'LegalHold' });
export const holdsAnswer = pageOf(hold).meta({ id: 'LegalHolds' });
export const placedAnswer = z.strictObject({ success: z.literal(true), hold }).meta({ id: 'PlacedLegalHold' });
export const releasedAnswer = z
  .strictObject({ success: z.literal(true), holdId: uuid })
  .meta({ id: 'ReleasedLegalHold' });
const callsByKind = z.strictObject(Object.fromEntries(CALL_PARTS.map((kind) => [kind, z.int()])));
export const purgedAnswer = z
  .strictObject({
    success: z.literal(true),
    removed: callsByKind.describe('How many calls lost this kind'),
    putOff: z.boolean().describe("Nothing was removed, because the machine's clock was set; ask again in an hour"),
    more: z.boolean().describe('More may be due: ask again'),
  })
  .meta({ id: 'Purged' });
export const receiptsAnswer = pageOf(
  z
    .strictObject({
      id: uuid,
      callUuid: uuid,
      kinds: z.array(z.enum(CALL_PARTS)),
      cause: z.enum(['retention', 'erase']),
      actor: z.string(),
      removed: z.record(z.string(), z.unknown()).describe('Rows by what they were; recordings with their SHA-256'),
      at: time,
    })
    .meta({ id: 'PurgeReceipt' }),
).meta({ id: 'PurgeReceipts' });
