/** `POST /api/outbound-call`, described for the published document. */
import { CARRIER_REFUSAL_CODES, type ErrorCode } from '../error-codes.ts';
import { BODY, COMMON, json, type Operation, RATE_HEADERS } from '../openapi/operation.ts';
import { placedAnswer } from './answers.ts';
import { outboundCallBody } from './request-body.ts';

/** What a call may be refused for once its request is read; those of a lead's call too. */
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
  'invalid_idempotency_key',
  'request_in_progress',
  'idempotency_state_unknown',
  'idempotency_key_reused',
];

export const outboundCallOperations: readonly Operation[] = [
  {
    method: 'post',
    route: '/api/outbound-call',
    id: 'placeCall',
    tag: 'Calls',
    summary: 'Call a phone number and hand the conversation to an agent',
    description:
      'Answers as soon as the carrier has taken the call. Follow it by its events, read it from the call log, or wait for the webhook. A 500 with `submission_unknown` may ring: repeat it with the same Idempotency-Key only.',
    scope: 'calls:write',
    specified: true,
    headers: {
      'Idempotency-Key': '1 to 255 letters, digits, _ or -. The same key and body within 24 h get the same answer.',
      Prefer: '`return=representation` adds `call` and `limits` to the answer.',
      'X-Request-Id': 'Comes back in the answer and stands in our log.',
    },
    params: null,
    query: null,
    body: outboundCallBody,
    answers: {
      200: json('The carrier has taken the call.', placedAnswer, {
        ...RATE_HEADERS,
        'X-Call-Uuid': 'The same as `callUuid`',
        'X-Call-Status': '`dialing` or `ringing`',
        'Idempotent-Replayed': '`true` when the answer was stored before',
        'Preference-Applied': 'What of Prefer was done',
      }),
    },
    errors: [
      'unauthorized',
      'insufficient_scope',
      'auth_rate_limit',
      'api_rate_limit',
      ...BODY,
      'missing_fields',
      'invalid_from',
      'invalid_to',
      'invalid_agentId',
      'invalid_name',
      'invalid_metadata',
      ...PLACING_CODES,
      ...COMMON,
    ],
  },
];
