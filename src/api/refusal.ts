/**
 * An answer that is not a success, thrown from anywhere in a request and put into the envelope of contract §12 by
 * `envelope.ts`. Carries only what the client may see; a fault of ours is any other error.
 */
import { type ErrorCode, factsOf } from '../errors/error-codes.ts';

export interface RefusalOptions {
  /** Instead of the list's, where one code has two of them. */
  status?: number;
  message?: string;
  /** Whole seconds; every 429 and 503 has one. */
  retryAfterSeconds?: number;
  /** Lower-case names. */
  headers?: Record<string, string>;
  /** New operations only: what is wrong with which field. */
  details?: { field: string; issue: string }[];
}

export class Refusal extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly details: { field: string; issue: string }[];

  constructor(code: ErrorCode, options: RefusalOptions = {}) {
    const facts = factsOf(code);
    super(options.message ?? facts.message);
    this.name = 'Refusal';
    this.code = code;
    this.status = options.status ?? facts.status;
    this.details = options.details ?? [];
    // A 401 names the scheme (RFC 9110 §15.5.2); the public key of a page is in the body and none.
    const challenge: Record<string, string> =
      this.status === 401 && code !== 'invalid_public_key' ? { 'www-authenticate': 'Bearer' } : {};
    this.headers = { ...challenge, ...options.headers };
    if (options.retryAfterSeconds !== undefined) this.headers['retry-after'] = String(options.retryAfterSeconds);
  }
}
