/** What descriptions of settings share, for the published document. */
import type { ErrorCode } from '../error-codes.ts';
import { IDEMPOTENCY_CODES } from '../leads/operations.ts';
import { BODY, KEYED, none, RATE_HEADERS } from '../openapi/operation.ts';

export const settings = { ...none, tag: 'Settings' } as const;
export const TAGGED = { ...RATE_HEADERS, ETag: 'Of this state, for If-Match' };
export const IF_MATCH = { 'If-Match': 'The ETag of the state that this changes; 412 when it is another by now' };

/** Of a request that changes something. */
export const CHANGING: readonly ErrorCode[] = [
  'invalid_request',
  'setting_refused',
  'precondition_failed',
  ...KEYED,
  ...BODY,
];
export const CREATING: readonly ErrorCode[] = [
  'invalid_request',
  'setting_refused',
  'already_exists',
  ...IDEMPOTENCY_CODES,
  ...KEYED,
  ...BODY,
];
