/**
 * Verifies a webhook (Standard Webhooks): the signature over id, time and the exact bytes of the body, compared in
 * constant time, by any of the secrets that are live; and its age. Answer 200 within three seconds, then work; the same
 * `id` may come more than once.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** What every event has; the rest is in docs/webhooks.md. Null: not known yet. */
export interface WebhookEvent {
  id: string;
  event: string;
  apiVersion: string;
  timestamp: string;
  sequence: number;
  callUuid: string | null;
  to: string | null;
  transcript: string | null;
  intent: string | null;
  summary: string | null;
  [field: string]: unknown;
}

export type WebhookFault = 'missing_headers' | 'bad_timestamp' | 'too_old' | 'too_new' | 'bad_signature' | 'bad_body';

export class WebhookVerificationError extends Error {
  readonly fault: WebhookFault;

  constructor(fault: WebhookFault, message: string) {
    super(message);
    this.name = 'WebhookVerificationError';
    this.fault = fault;
  }
}

export interface VerifyOptions {
  /** `whsec_…`; while a secret is rotated, the new one and the old one. */
  secret: string | readonly string[];
  /** Of the request, in any form. */
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** As it came, before any parsing. */
  body: string | Uint8Array;
  /** Default 5 minutes either way. */
  toleranceSeconds?: number;
  /** For tests. */
  nowEpochMs?: number;
}

const TOLERANCE_SECONDS = 300;

/** The event, or a `WebhookVerificationError`. */
export function verifyWebhook(options: VerifyOptions): WebhookEvent {
  const id = headerOf(options.headers, 'webhook-id');
  const timestamp = headerOf(options.headers, 'webhook-timestamp');
  const signatures = headerOf(options.headers, 'webhook-signature');
  if (id === null || timestamp === null || signatures === null) {
    throw new WebhookVerificationError('missing_headers', 'The request lacks webhook-id, -timestamp or -signature.');
  }
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw new WebhookVerificationError('bad_timestamp', 'webhook-timestamp is no number of seconds.');
  }
  const body = typeof options.body === 'string' ? Buffer.from(options.body, 'utf8') : Buffer.from(options.body);
  const given = signatures
    .split(' ')
    .filter((one) => one.startsWith('v1,'))
    .map((one) => Buffer.from(one.slice('v1,'.length), 'base64'));
  let matches = false;
  for (const secret of [options.secret].flat()) {
    const expected = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body).digest();
    // Every pair is compared, so that the time says nothing of which one matched.
    for (const one of given) matches = (one.length === expected.length && timingSafeEqual(one, expected)) || matches;
  }
  if (!matches) throw new WebhookVerificationError('bad_signature', 'No signature is by any of the secrets.');
  const ageSeconds = (options.nowEpochMs ?? Date.now()) / 1_000 - Number(timestamp);
  const tolerance = options.toleranceSeconds ?? TOLERANCE_SECONDS;
  if (ageSeconds > tolerance) throw new WebhookVerificationError('too_old', 'It was signed too long ago.');
  if (ageSeconds < -tolerance) throw new WebhookVerificationError('too_new', 'It was signed in the future.');
  return parsed(body);
}

function parsed(body: Buffer): WebhookEvent {
  try {
    return JSON.parse(body.toString('utf8')) as WebhookEvent;
  } catch {
    throw new WebhookVerificationError('bad_body', 'The body is not JSON.');
  }
}

function keyOf(secret: string): Buffer {
  if (!secret.startsWith('whsec_')) throw new TypeError('A webhook secret begins with whsec_.');
  return Buffer.from(secret.slice('whsec_'.length), 'base64');
}

function headerOf(headers: VerifyOptions['headers'], name: string): string | null {
  if (typeof (headers as Headers).get === 'function') return (headers as Headers).get(name);
  const plain = headers as Readonly<Record<string, string | readonly string[] | undefined>>;
  const key = Object.keys(plain).find((one) => one.toLowerCase() === name);
  const value = key === undefined ? undefined : plain[key];
  return value === undefined ? null : [value].flat().join(' ');
}
