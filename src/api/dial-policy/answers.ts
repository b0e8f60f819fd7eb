/** What the routes of the dial policy answer, as zod schemas for the published document. */
import { z } from 'zod';
import { NUMBER_KINDS } from '../../dialling/number-kinds.ts';
import { time } from '../openapi/shared-answers.ts';

const usage = {
  calls: z.int(),
  usedSeconds: z.int().describe('Talk of calls that are over'),
  reservedSeconds: z.int().describe('The longest that live calls may still become'),
};

export const dialPolicyAnswer = z
  .strictObject({
    countries: z.array(z.string()).nullable().describe('Beside those of its lines; null: any'),
    blockedCountries: z.array(z.string()),
    kinds: z.array(z.enum(NUMBER_KINDS)).describe('Beside ordinary numbers'),
    maxCallSeconds: z.int().nullable(),
    callsPerDay: z.int().nullable(),
    minutesPerDay: z.int().nullable(),
    keyCallsPerDay: z.int().nullable(),
    keyMinutesPerDay: z.int().nullable(),
    lineCountries: z
      .array(z.string())
      .describe('Of lines that the operator added: every line may call them. A line may always call its own'),
    ownCountries: z.array(z.string()).describe('Of all its lines: each may call its own'),
    today: z
      .strictObject({
        ...usage,
        resetsAt: time,
        keys: z.array(z.strictObject({ keyId: z.string(), ...usage })).describe('That have called today'),
      })
      .nullable()
      .describe('Null: nothing is counted, because there are no ceilings'),
  })
  .meta({ id: 'DialPolicy' });

export const storedDialPolicyAnswer = z
  .strictObject({ success: z.literal(true), dialPolicy: dialPolicyAnswer })
  .meta({ id: 'StoredDialPolicy' });
