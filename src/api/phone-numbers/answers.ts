/** What the routes of phone numbers answer, as zod schemas for the published document. */
import { z } from 'zod';
import { LINE_FAULTS } from '../../workspaces/line-trial.ts';
import { time, uuid, wholeList } from '../openapi/shared-answers.ts';

export const phoneNumberAnswer = z
  .strictObject({
    id: uuid.describe('For `from`'),
    number: z.string(),
    carrier: z.string(),
    hasCredentials: z.boolean().describe('They are write-only'),
    limits: z.strictObject({ concurrentCalls: z.int(), callsPerSecond: z.int() }),
    createdAt: time,
  })
  .meta({ id: 'PhoneNumber' });

export const phoneNumbersAnswer = wholeList(phoneNumberAnswer).meta({ id: 'PhoneNumbers' });
export const storedPhoneNumberAnswer = z
  .strictObject({ success: z.literal(true), phoneNumber: phoneNumberAnswer })
  .meta({ id: 'StoredPhoneNumber' });
export const deletedPhoneNumberAnswer = z
  .strictObject({ success: z.literal(true), lineId: uuid })
  .meta({ id: 'DeletedPhoneNumber' });

export const lineTrialAnswer = z
  .strictObject({
    ok: z.boolean(),
    fault: z.enum(LINE_FAULTS).nullable(),
    problem: z.string().nullable().describe('What is wrong, for a person'),
    carrier: z.string(),
    ms: z.int(),
    clockAheadMs: z.int().nullable().describe('Of this service against the carrier, to a second'),
  })
  .meta({ id: 'PhoneNumberTrial' });
