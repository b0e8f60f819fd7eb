/**
 * What `POST /api/outbound-call` and the call of a lead take and answer beside their bodies, for the published
 * document.
 */
import { z } from 'zod';
import { CARRIER_REFUSAL_CODES, type ErrorCode } from '../../errors/error-codes.ts';
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

export const PLACING_HEADERS = {
  Prefer: '`return=representation` adds `call` and `limits` to the answer.',
  'X-Request-Id': 'Comes back in the answer and stands in our log.',
};

export const PLACED_HEADERS = {
  'X-Call-Uuid': 'The same as `callUuid`',
  'X-Call-Status': '`dialing` or `ringing`',
  'Preference-Applied': 'What of Prefer was done',
};

/** What a call may be refused for once its request is read. */
export const PLACING_CODES: readonly ErrorCode[] = [
  'credentials_missing',
  'agent_not_found',
  'agent_not_outbound',
  'blocked_suppressed',
  'blocked_time_window',
  'blocked_country',
  'blocked_destination',
  'duplicate_call',
  'draining',
  'overloaded',
  'cps_limit',
  'concurrency_limit',
  'line_switched_off',
  'daily_limit',
  'carrier_throttled',
  ...CARRIER_REFUSAL_CODES,
  'submission_unknown',
];
