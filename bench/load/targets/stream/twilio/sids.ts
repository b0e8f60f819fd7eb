/** Twilio's ids: two letters and 32 hexadecimal digits. */
import { randomBytes } from 'node:crypto';

/** Nobody's. */
export const ACCOUNT_SID = `AC${'0'.repeat(32)}`;

export function newSid(kind: 'CA' | 'MZ'): string {
  return kind + randomBytes(16).toString('hex');
}
