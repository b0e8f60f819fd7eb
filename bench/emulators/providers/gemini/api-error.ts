/** Errors of the emulated Gemini, in its shape and words. */
import type { Answer } from '../provider.ts';

const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};
const MESSAGES: Readonly<Record<number, string>> = {
  403: 'The caller does not have permission',
  404: 'Requested entity was not found.',
  429: 'You exceeded your current quota, please check your plan and billing details.',
  500: 'An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting',
  503: 'The model is overloaded. Please try again later.',
};
const MINUTE = {
  '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
  violations: [{ quotaId: 'GenerateRequestsPerMinutePerProjectPerModel-FreeTier' }],
};

/** What a check of a request throws and the endpoint answers. */
export class RequestRefused extends Error {
  readonly status: number;
  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}

export function errorBody(code: number, message = MESSAGES[code] ?? 'Unknown Error.', details: object[] = []): object {
  const told = code === 429 ? [MINUTE, ...details] : details;
  const status = STATUSES[code] ?? 'UNKNOWN';
  return { error: { code, message, status, ...(told.length === 0 ? {} : { details: told }) } };
}

export function errorAnswer(status: number, message?: string): Answer {
  return { status, body: errorBody(status, message) };
}

/** A wrong key is a wrong request, and none at all is a stranger. */
export function unauthorizedAnswer(key: string | null): Answer {
  if (key === null)
    return errorAnswer(
      403,
      "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
    );
  const info = {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: 'API_KEY_INVALID',
    domain: 'googleapis.com',
  };
  return { status: 400, body: errorBody(400, 'API key not valid. Please pass a valid API key.', [info]) };
}
