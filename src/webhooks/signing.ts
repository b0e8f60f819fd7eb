/**
 * Standard Webhooks signatures (https://www.standardwebhooks.com, 1.0.0): HMAC-SHA256 over `id.timestamp.body`, keyed
 * with the bytes behind `whsec_`. Called by delivery for each attempt, and by `endpoint.ts` for new secrets.
 */
import { createHmac, randomBytes } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** `whsec_` + base64 of 32 random bytes. */
export function createWebhookSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

export interface SignedContent {
  /** The event's id; must not hold a dot. Equal in every attempt, so that receivers can drop repeats. */
  id: string;
  /** Unix seconds of this attempt (receivers refuse more than 300 s either way). */
  timestampSeconds: number;
  /** The exact text that is sent. */
  body: string;
}

/** `v1,<base64>` for one secret: `v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=` for the published vector. */
export function signature(secret: string, content: SignedContent): string {
  if (!secret.startsWith(SECRET_PREFIX)) throw new Error('A webhook secret must begin with whsec_; rotate the secret.');
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  const mac = createHmac('sha256', key).update(`${content.id}.${content.timestampSeconds}.${content.body}`);
  return `v1,${mac.digest('base64')}`;
}

/** The three headers. While a rotation runs there are two secrets, newest first, and the receiver may know either. */
export function signatureHeaders(secrets: readonly string[], content: SignedContent): Record<string, string> {
  return {
    'webhook-id': content.id,
    'webhook-timestamp': String(content.timestampSeconds),
    'webhook-signature': secrets.map((secret) => signature(secret, content)).join(' '),
  };
}
