/** Errors of the emulated Anthropic, in its shape and words. */
import { randomBytes } from 'node:crypto';
import type { Answer } from '../provider.ts';

const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};
const MESSAGES: Readonly<Record<number, string>> = {
  403: 'Your API key does not have permission to use the specified resource.',
  404: 'Not found',
  429: 'This request would exceed your account’s rate limit. Please try again later.',
  529: 'Overloaded',
};

/** What a check of a request throws and the endpoint answers. */
export class RequestRefused extends Error {
  readonly status: number;
  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}

export function errorBody(status: number, message: string): object {
  return { type: 'error', error: { type: TYPES[status] ?? 'api_error', message }, request_id: requestId() };
}

export function errorAnswer(status: number, message = MESSAGES[status] ?? 'Internal server error'): Answer {
  return { status, headers: answerHeaders(), body: errorBody(status, message) };
}

export function unauthorizedAnswer(key: string | null): Answer {
  return errorAnswer(401, key === null ? 'x-api-key header is required' : 'invalid x-api-key');
}

/** Of every answer; clients tell people the id. */
export function answerHeaders(): Record<string, string> {
  return { 'request-id': requestId(), 'anthropic-organization-id': '00000000-0000-4000-8000-000000000001' };
}

function requestId(): string {
  return `req_${randomBytes(12).toString('hex')}`;
}
