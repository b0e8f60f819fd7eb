/**
 * An answer that is no success, with all that the service says of it. `code` is its
 * `X-Error-Code`: compare that, not the message.
 */
export class ParleyError extends Error {
  readonly status: number;
  readonly code: string | null;
  readonly requestId: string | null;
  /** Of a call that exists although its placement failed. */
  readonly callUuid: string | null;
  readonly details: readonly { field: string; issue: string }[];
  readonly retryAfterSeconds: number | null;
  readonly body: unknown;
  readonly headers: Headers;

  constructor(status: number, headers: Headers, body: unknown) {
    const fields = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
    super(typeof fields['message'] === 'string' ? fields['message'] : `HTTP ${status}`);
    this.name = 'ParleyError';
    this.status = status;
    this.headers = headers;
    this.body = body;
    this.code = headers.get('x-error-code');
    this.requestId = headers.get('x-request-id');
    this.callUuid = headers.get('x-call-uuid');
    this.details = Array.isArray(fields['details']) ? fields['details'] : [];
    const wait = Number(headers.get('retry-after') ?? Number.NaN);
    this.retryAfterSeconds = Number.isFinite(wait) ? wait : null;
  }
}
