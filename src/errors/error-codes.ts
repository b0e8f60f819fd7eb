/**
 * Every `X-Error-Code` that an answer may carry, with its status and message: one list for the routes, the published
 * `/api/developer/error-codes` and the docs. A message in the list is the exact text that a client may compare.
 */
import { ENDED_REASONS, type EndedReason } from '../../media/contract/call-outcome.ts';
import type { CodeFacts } from './code-facts.ts';
import { CALL_ERROR_CODES } from './codes/calls.ts';
import { CLIP_CODES } from './codes/clips.ts';
import { CONSOLE_CODES } from './codes/console.ts';
import { EMBED_CODES } from './codes/embed.ts';
import { LEAD_CODES } from './codes/leads.ts';
import { RECORDING_CODES } from './codes/recordings.ts';
import { SETTING_CODES } from './codes/settings.ts';
import { SUPPRESSION_CODES } from './codes/suppressions.ts';
import { WEBHOOK_ERROR_CODES } from './codes/webhooks.ts';

const DEFINITIONS = {
  ...CALL_ERROR_CODES,
  ...RECORDING_CODES,
  ...CLIP_CODES,
  unauthorized: {
    status: 401,
    message: 'Authentication failed (Unauthorized)',
    meaning:
      'The Bearer key is missing, wrong, expired, revoked, not allowed from this address, belongs to another workspace than `enterprise`, or API access is off.',
  },
  insufficient_scope: {
    status: 403,
    message: 'The API key lacks the scope …',
    meaning:
      "The message ends with the name of the scope: use a key that has it. The specification's operations answer 401 with their own message; `WWW-Authenticate` names the scope.",
  },
  auth_rate_limit: {
    status: 401,
    message: 'Authentication failed (Unauthorized)',
    meaning:
      'More than 20 failed authentications in a minute from this address, or for this key: until Retry-After has passed only keys that were right before are let in, and all else is refused unseen.',
  },
  api_rate_limit: {
    status: 429,
    message: 'Too many requests',
    meaning:
      'The key made more requests than its workspace allows. On POST /api/outbound-call the message is the carrier one.',
  },
  open_requests_limit: {
    status: 429,
    message: 'Too many requests',
    meaning:
      "This address, or the keys of this workspace, have as many requests open at once as one may. Send bodies in one go; repeat after Retry-After. POST /api/outbound-call, a lead's call and POST /api/embed/session have their own message for 429.",
  },
  invalid_json: {
    status: 400,
    message: 'Invalid JSON body',
    meaning: 'The body is not JSON, or is nested deeper than 32 levels.',
  },
  unsupported_media_type: {
    status: 415,
    message: 'Content-Type must be application/json',
    meaning: 'Send Content-Type: application/json.',
  },
  body_too_large: { status: 413, message: 'Request body too large', meaning: 'A body may have 64 KB.' },
  body_too_slow: {
    status: 408,
    message: 'Request body too slow',
    meaning:
      'The body did not come on: it may take 5 s, and 1 s more for each 16 KiB that came. The connection is closed; send the body in one go.',
  },
  bad_request: {
    status: 400,
    message: 'Bad request',
    meaning: 'The request breaks HTTP, for instance by a Content-Length that does not fit.',
  },
  missing_fields: {
    status: 400,
    message: 'Missing required fields',
    meaning: 'A field that the operation requires is absent, null or empty.',
  },
  invalid_from: {
    status: 400,
    message: "Invalid 'from' phone ID format",
    meaning: '`from` must be the UUID of a phone number record of the workspace.',
  },
  invalid_to: { status: 400, message: "Invalid 'to' format", meaning: '`to` must be E.164, like +14155550123.' },
  invalid_agentId: { status: 400, message: "Invalid 'agentId' format", meaning: '`agentId` must be a UUID.' },
  invalid_name: {
    status: 400,
    message: "Invalid 'name' format",
    meaning: '`name` must be a string of at most 120 characters.',
  },
  invalid_metadata: {
    status: 400,
    message: "Invalid 'metadata' format",
    meaning:
      '`metadata` must be an object of at most 50 keys (a letter or _ first; letters, digits, _ . - after; 64 characters), values of at most 2,000 characters, 8 KB in all.',
  },
  credentials_missing: {
    status: 400,
    message: 'Credentials missing. Add a phone number and credentials in Phone numbers and Telephony settings.',
    meaning: 'The workspace has no phone line with carrier credentials.',
  },
  agent_not_found: { status: 404, message: 'Agent not found', meaning: 'The workspace has no agent of this id.' },
  agent_not_outbound: {
    status: 400,
    message: 'Agent is not an outbound agent',
    meaning: 'The agent takes other calls only; its `direction` must be outbound or any.',
  },
  blocked_suppressed: {
    status: 403,
    message: 'Call blocked by compliance policy',
    meaning: 'The number is on the suppression list.',
  },
  blocked_time_window: {
    status: 403,
    message: 'Call blocked by compliance policy',
    meaning: 'It is outside the calling hours of the called person.',
  },
  blocked_country: {
    status: 403,
    message: 'Call blocked by compliance policy',
    meaning: 'The workspace does not call this country.',
  },
  blocked_destination: {
    status: 403,
    message: 'Call blocked by compliance policy',
    meaning:
      "The operator of the service has not allowed the workspace this country, which is of none of its lines, or this kind of number: premium, shared-cost, personal, satellite, of no country or of no numbering plan. `GET /api/developer/dial-policy` shows what is allowed; the operator's `parley dialling` allows more.",
  },
  draining: {
    status: 503,
    message: 'Service temporarily unavailable',
    meaning: 'This node takes no new calls now; repeat after Retry-After.',
  },
  overloaded: {
    status: 503,
    message: 'Service temporarily unavailable',
    meaning: 'More work waits than can be done in time; repeat after Retry-After.',
  },
  cps_limit: {
    status: 429,
    message: 'Carrier rate limit exceeded',
    meaning: 'Too many new calls per second on the line or in the workspace.',
  },
  concurrency_limit: {
    status: 429,
    message: 'Carrier rate limit exceeded',
    meaning: 'Too many calls at once on the line or in the workspace; of web sessions, from the address too.',
  },
  line_switched_off: {
    status: 429,
    message: 'Carrier rate limit exceeded',
    meaning:
      'The line is switched off: one of its limits is 0. Use another line, or raise them (`parley line limits`, `PATCH /api/developer/phone-numbers/{id}`).',
  },
  daily_limit: {
    status: 429,
    message: 'Carrier rate limit exceeded',
    meaning:
      "The workspace or the key has had the calls or minutes that the operator allows a day (UTC), or live calls hold what is left of them: Retry-After says when to come again. `GET /api/developer/dial-policy` shows how much; the operator's `parley dialling` allows more.",
  },
  submission_unknown: {
    status: 500,
    message: 'Internal server error',
    meaning:
      'The carrier did not answer: the call may ring. X-Call-Uuid names it; its webhook still comes. Repeat with the same Idempotency-Key only.',
  },
  internal_error: {
    status: 500,
    message: 'Internal server error',
    meaning: 'A fault of ours; X-Request-Id finds it in the log.',
  },
  invalid_idempotency_key: {
    status: 400,
    message: 'Invalid Idempotency-Key',
    meaning: 'The key must be 1 to 255 letters, digits, _ or -.',
  },
  request_in_progress: {
    status: 409,
    message: 'Request in progress',
    meaning: 'The first request with this Idempotency-Key is still being answered.',
  },
  idempotency_state_unknown: {
    status: 409,
    message: 'Outcome of the first request is not known yet',
    meaning: 'The first request with this Idempotency-Key may or may not have dialled; repeat later for its answer.',
  },
  idempotency_key_reused: {
    status: 422,
    message: 'Idempotency-Key reused with a different body',
    meaning: 'An Idempotency-Key belongs to one call; make another.',
  },
  invalid_call_id: { status: 400, message: 'Invalid call ID format', meaning: 'A call id is a UUID.' },
  invalid_request: { status: 400, message: 'Invalid request', meaning: '`details` names the fields.' },
  invalid_cursor: {
    status: 400,
    message: 'Invalid cursor',
    meaning:
      '`cursor` must be the `nextCursor` of the page before, unchanged, with the same key, path and filters. To begin at the newest entry, leave it out.',
  },
  call_not_found: { status: 404, message: 'Call not found', meaning: 'The workspace has no call of this id.' },
  recording_not_ready: {
    status: 404,
    message: 'Recording not ready',
    meaning: 'The call has no recording, or none yet; see `recording.status` of the call.',
  },
  ...LEAD_CODES,
  ...SUPPRESSION_CODES,
  ...WEBHOOK_ERROR_CODES,
  ...EMBED_CODES,
  ...SETTING_CODES,
  ...CONSOLE_CODES,
  not_found: { status: 404, message: 'Not found', meaning: 'There is no such path.' },
  method_not_allowed: {
    status: 405,
    message: 'Method not allowed',
    meaning: 'The path exists for the methods in Allow.',
  },
} as const satisfies Record<string, CodeFacts>;

/**
 * What the carrier refused (step 14) comes as 502 with the call's own reason as its code, or as 429 when it throttled.
 */
export const CARRIER_REFUSAL = { status: 502, message: 'Carrier rejected the call' } as const;
export const CARRIER_THROTTLED = { status: 429, message: 'Carrier rate limit exceeded' } as const;

export type ErrorCode = keyof typeof DEFINITIONS | EndedReason;

export function factsOf(code: ErrorCode): { status: number; message: string } {
  if (Object.hasOwn(DEFINITIONS, code)) {
    const { status, message } = DEFINITIONS[code as keyof typeof DEFINITIONS];
    return { status, message };
  }
  return code === 'carrier_throttled' ? CARRIER_THROTTLED : CARRIER_REFUSAL;
}

/** The specification knows one answer for a key that will not do, whatever its code. */
export function factsFor(code: ErrorCode, specified: boolean): { status: number; message: string } {
  return factsOf(specified && code === 'insufficient_scope' ? 'unauthorized' : code);
}

/** The reasons with which a carrier may refuse an attempt (502). */
export const CARRIER_REFUSAL_CODES: readonly EndedReason[] = (Object.keys(ENDED_REASONS) as EndedReason[]).filter(
  (code) =>
    ENDED_REASONS[code].status !== 'completed' && code !== 'carrier_throttled' && !Object.hasOwn(DEFINITIONS, code),
);

export const ERROR_CODES = [
  ...(Object.keys(DEFINITIONS) as (keyof typeof DEFINITIONS)[]),
  'carrier_throttled',
  ...CARRIER_REFUSAL_CODES,
] as const satisfies readonly ErrorCode[];

/** What `GET /api/developer/error-codes` answers. */
export function publishedErrorCodes(): { code: string; status: number; message: string; meaning: string }[] {
  return ERROR_CODES.map((code) => ({ code, ...factsOf(code), meaning: meaningOf(code) }));
}

export function meaningOf(code: ErrorCode): string {
  if (Object.hasOwn(DEFINITIONS, code)) return DEFINITIONS[code as keyof typeof DEFINITIONS].meaning;
  return code === 'carrier_throttled'
    ? 'The carrier said that calls come too fast.'
    : 'The carrier refused the attempt; the call log has the details under X-Call-Uuid.';
}
