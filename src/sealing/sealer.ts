/**
 * Seals what must not lie readable in the database: credentials, secrets and the keys of recordings. AES-256-GCM under
 * the master key; the place where the value lies is sealed with it. Must not log or cache plain text. Used by whoever
 * writes or reads such a column.
 *
 *   0..3      4..7      8..19     20..35     36…
 *   "psv2"    key id    nonce     tag        ciphertext        additional data: bytes 0..7, then the place as JSON
 *
 * Values of former versions have one byte of SHA-256(master key) in front of nonce, tag and ciphertext, and are bound
 * to no place. They still open; `parley master-key rotate` seals them anew.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { type GivenKeys, type MasterKey, masterKeysOf } from './master-keys.ts';
import type { SealedPlace } from './sealed-places.ts';

export interface Sealer {
  seal(plain: string, place: SealedPlace): Buffer;
  /** Throws when the value was sealed under another key or for another place, or was changed. */
  open(sealed: Buffer, place: SealedPlace): string;
}

const MARK = Buffer.from('psv2');
const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** What a value begins with that was sealed under one key in this form. */
export const SEALED_HEAD_BYTES = MARK.length + KEY_ID_BYTES;
const UNBOUND_HEAD_BYTES = 1;

export function sealedHeadOf(key: MasterKey): Buffer {
  return Buffer.concat([MARK, key.id]);
}

export function createSealer(keys: GivenKeys): Sealer {
  const ring = masterKeysOf(keys);
  return {
    seal(plain, place) {
      const key = ring.current();
      const head = sealedHeadOf(key);
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key.bytes, nonce).setAAD(boundTo(head, place));
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return Buffer.concat([head, nonce, cipher.getAuthTag(), body]);
    },
    open(sealed, place) {
      if (sealed.length < UNBOUND_HEAD_BYTES + NONCE_BYTES + TAG_BYTES) {
        throw new Error('A stored secret is cut short; store it again.');
      }
      const known = ring.all();
      const head = sealed.subarray(0, SEALED_HEAD_BYTES);
      const bound = known.filter((key) => sealedHeadOf(key).equals(head));
      // A former value may begin like one of this form, by chance; then only the one that it is opens.
      const unbound = known.filter((key) => unboundHeadOf(key)[0] === sealed[0]);
      for (const key of bound) {
        const plain = decrypted(key, sealed.subarray(SEALED_HEAD_BYTES), boundTo(head, place));
        if (plain !== null) return plain;
      }
      for (const key of unbound) {
        const plain = decrypted(key, sealed.subarray(UNBOUND_HEAD_BYTES), unboundHeadOf(key));
        if (plain !== null) return plain;
      }
      if (bound.length === 0 && (unbound.length === 0 || head.subarray(0, MARK.length).equals(MARK))) {
        throw new Error(
          'A stored secret was sealed under another PARLEY_MASTER_KEY. Start with the key that it was stored under, or store the secret again.',
        );
      }
      throw new Error(
        'A stored secret does not open: it was changed, or it was sealed for another row, or PARLEY_MASTER_KEY is another. Store it again.',
      );
    },
  };
}

function boundTo(head: Buffer, { table, workspaceId, row }: SealedPlace): Buffer {
  return Buffer.concat([head, Buffer.from(JSON.stringify([table, workspaceId, ...row]))]);
}

function unboundHeadOf(key: MasterKey): Buffer {
  return createHash('sha256').update(key.bytes).digest().subarray(0, UNBOUND_HEAD_BYTES);
}

/** `sealed`: nonce, tag, ciphertext. Null: this is not the key, or not the place, or a byte was changed. */
function decrypted(key: MasterKey, sealed: Buffer, additional: Buffer): string | null {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return null;
  const decipher = createDecipheriv('aes-256-gcm', key.bytes, sealed.subarray(0, NONCE_BYTES))
    .setAAD(additional)
    .setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString(
      'utf8',
    );
  } catch {
    return null;
  }
}
