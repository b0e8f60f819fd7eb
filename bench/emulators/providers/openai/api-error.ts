/** Errors of the emulated OpenAI service, in its shape and words. */
import { randomBytes } from 'node:crypto';
import type { Answer } from '../provider.ts';

export interface ApiError {
  status: number;
  message: string;
  type: string;
  param: string | null;
  code: string | null;
}

/** What a check of a request throws and the endpoint answers. */
export class RequestRefused extends Error {
  readonly error: ApiError;
  constructor(message: string, param: string | null, code: string | null, status = 400) {
    super(message);
    this.error = { status, message, type: 'invalid_request_error', param, code };
  }
}

export function wrongType(param: string, expected: string, given: unknown): RequestRefused {
  const message = `Invalid type for '${param}': expected ${expected}, but got ${typeName(given)} instead.`;
  return new RequestRefused(message, param, 'invalid_type');
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a decimal';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

export function unknownParameter(param: string): RequestRefused {
  return new RequestRefused(`Unknown parameter: '${param}'.`, param, 'unknown_parameter');
}

export function errorAnswer({ status, ...error }: ApiError): Answer {
  return { status, headers: answerHeaders(), body: { error } };
}

/** Of every answer; clients tell people the id. */
export function answerHeaders(): Record<string, string> {
  return { 'x-request-id': `req_${randomBytes(16).toString('hex')}`, 'openai-version': '2020-10-01' };
}

export function unauthorizedAnswer(key: string | null): Answer {
  const message =
    key === null
      ? "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth " +
        '(i.e. Authorization: Bearer YOUR_KEY).'
      : 'Incorrect API key provided: ***. You can find your API key in the settings of the emulator.';
  const code = key === null ? null : 'invalid_api_key';
  return errorAnswer({ status: 401, message, type: 'invalid_request_error', param: null, code });
}

/** Of a scripted status. */
export function failureAnswer(status: number): Answer {
  if (status === 404) {
    return errorAnswer({ status, message: 'Invalid URL', type: 'invalid_request_error', param: null, code: null });
  }
  if (status === 429) {
    const message = 'Rate limit reached for requests. Please try again later.';
    return errorAnswer({ status, message, type: 'requests', param: null, code: 'rate_limit_exceeded' });
  }
  const message =
    status === 503
      ? 'That model is currently overloaded with other requests.'
      : 'The server had an error while processing your request. Sorry about that!';
  return errorAnswer({ status, message, type: 'server_error', param: null, code: null });
}
