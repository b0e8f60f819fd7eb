/** Errors of the emulated ElevenLabs, in its shapes: `detail` over HTTP, a frame before the close on a socket. */
import { randomBytes } from 'node:crypto';
import type { Answer, SocketExchange } from '../provider.ts';

export interface ApiError {
  /** Of the frame on a socket, and `status` over HTTP. */
  error: string;
  message: string;
}

export const INVALID_KEY: ApiError = { error: 'invalid_api_key', message: 'Invalid API key' };

/** A close reason is cut at so many bytes (RFC 6455 §5.5). */
const REASON_BYTES = 123;
const POLICY_VIOLATION = 1008;

/** Over HTTP. `code` where it is not the status' name. */
export function errorAnswer(
  status: number,
  type: string,
  { error, message }: ApiError,
  more: Record<string, string> = {},
): Answer {
  const detail = { type, code: error, message, status: error, request_id: requestId(), ...more };
  return { status, body: { detail } };
}

/** A field that is missing or of the wrong type: here `detail` is a list. */
export function fieldAnswer(loc: (string | number)[], msg: string, type: string, input: unknown): Answer {
  return { status: 422, body: { detail: [{ type, loc, msg, input: input ?? null }] } };
}

export function unauthorizedAnswer(key: string | null): Answer {
  if (key !== null) return errorAnswer(401, 'authentication_error', INVALID_KEY, { code: 'unauthorized' });
  const error = {
    error: 'needs_authorization',
    message: 'Neither authorization header nor xi-api-key received, please provide one.',
  };
  return errorAnswer(401, 'authentication_error', error, { code: 'unauthorized' });
}

/** Of a scripted status. */
export function failureAnswer(status: number): Answer {
  if (status === 404) return errorAnswer(404, 'not_found', { error: 'not_found', message: 'Not Found' });
  if (status === 429) {
    const message =
      'Too many concurrent requests. Your current subscription is associated with a maximum of 5 concurrent requests.';
    return errorAnswer(429, 'rate_limit_error', { error: 'too_many_concurrent_requests', message });
  }
  const message = 'We are sorry, something went wrong. You are not charged for this request.';
  return errorAnswer(status, 'internal_error', { error: 'internal_server_error', message });
}

/** The frame at once, the close so much later: what a client sends between them is not read. */
export function closeWithError(socket: SocketExchange, { error, message }: ApiError, closeAfterMs: number): void {
  socket.send({ message, error, code: POLICY_VIOLATION });
  socket.onMessage(() => {});
  const bytes = Buffer.from(message);
  const reason =
    bytes.length <= REASON_BYTES
      ? message
      : bytes
          .subarray(0, REASON_BYTES)
          .toString('utf8')
          .replace(/\ufffd+$/, '');
  socket.timetable.apart().after(closeAfterMs, () => socket.close(POLICY_VIOLATION, reason));
}

export function requestId(): string {
  return randomBytes(16).toString('hex');
}
