/**
 * Seals what must not lie readable in the database: carrier credentials and webhook secrets. AES-256-GCM under the
 * master key; used by `src/workspaces` (writes), placement and webhook delivery (read). Must not log or cache plain text.
 *
 *   byte 0      1..12        13..28      29…
 *   key id      nonce        tag         ciphertext        key id = first byte of SHA-256(master key)
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

export interface Sealer {
  seal(plain: string): Buffer;
  /** Throws when the value was sealed under another key or was changed. */
  open(sealed: Buffer): string;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + NONCE_BYTES + TAG_BYTES;

/** `masterKeyHex` is 64 hexadecimal digits (32 bytes). */
export function createSealer(masterKeyHex: string): Sealer {
  if (!/^[0-9a-fA-F]{64}$/.test(masterKeyHex)) {
    throw new Error('PARLEY_MASTER_KEY must be 64 hexadecimal digits; make one with: openssl rand -hex 32');
  }
  const key = Buffer.from(masterKeyHex, 'hex');
  const keyId = createHash('sha256').update(key).digest().subarray(0, 1);
  return {
    seal(plain) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(keyId);
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return Buffer.concat([keyId, nonce, cipher.getAuthTag(), body]);
    },
    open(sealed) {
      if (sealed.length < HEADER_BYTES) throw new Error('A stored secret is cut short; store it again.');
      if (sealed[0] !== keyId[0]) {
        throw new Error(
          'A stored secret was sealed under another PARLEY_MASTER_KEY. Start with the key that it was stored under, or store the secret again.',
        );
      }
      const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', key, nonce)
        .setAAD(keyId)
        .setAuthTag(sealed.subarray(1 + NONCE_BYTES, HEADER_BYTES));
      try {
        return Buffer.concat([decipher.update(sealed.subarray(HEADER_BYTES)), decipher.final()]).toString('utf8');
      } catch {
        throw new Error(
          'A stored secret does not open: it was changed, or PARLEY_MASTER_KEY is another. Store it again.',
        );
      }
    },
  };
}
