/**
 * The one form in which a recording lies anywhere: a clear header, then chunks of AES-256-GCM. Media writes it
 * (segments, finished files), control reads it (stores, downloads, erasure). A leaf: it knows bytes and keys, no files
 * and no databases.
 *
 *   header, 64 bytes                                                     chunk i, i = 0, 1, …
 *   0 "PARLEYS1" │ 8 salt (16) │ 24 chunk bytes │ 28 kind │ 29 codec │   ciphertext (chunk bytes, the last may be less)
 *   32 rate Hz │ 36 first sample │ 40 zeros (8) │ 48 tag over all before (16)   tag (16)   (little-endian)
 *
 * Each file has a key of its own, HKDF-SHA256 of the recording's data key and the salt, so nonces are counters: chunk
 * number and a mark on the last chunk of a finished file. A torn tail fails its tag and is cut off; every chunk before
 * it reads. Chunks cannot be moved, swapped or cut off a finished file unseen. NIST SP 800-38D for GCM, RFC 5869 for
 * HKDF; the construction is STREAM (Hoang et al. 2015).
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { LegFormat } from '../contract/audio-format.ts';

export const ENCRYPTED_HEADER_BYTES = 64;
export const CHUNK_TAG_BYTES = 16;
/** Of finished files: what a range request has to decrypt at least. Segments have chunks of one second. */
export const FILE_CHUNK_BYTES = 65_536;

/** What the header says. `sound` is of segments: what they are made of, and where in the recording they begin. */
export interface EncryptedFileShape {
  chunkBytes: number;
  sound: { format: LegFormat; firstSample: number } | null;
}

export interface FileCipher extends EncryptedFileShape {
  readonly header: Uint8Array;
  /**
   * Ciphertext and tag of one chunk, valid until the next one is encrypted, of whatever file. A number is used once,
   * ever: two plain texts under one would show their difference.
   */
  encrypt(chunk: number, plain: Uint8Array, isLast?: boolean): Buffer;
  /** Null: damaged, cut, moved, or not the last where it should be. */
  decrypt(chunk: number, encrypted: Uint8Array, isLast?: boolean): Buffer | null;
}

/** Not an encrypted file, a damaged header, or another key. */
export class EncryptedFileBroken extends Error {
  override readonly name = 'EncryptedFileBroken';
}

const MAGIC = Buffer.from('PARLEYS1', 'latin1');
const TAGGED_BYTES = ENCRYPTED_HEADER_BYTES - CHUNK_TAG_BYTES;
const MOST_CHUNK_BYTES = 1 << 20;
const CODECS = ['mulaw', 'pcm_s16le'] as const;
const NONCE_BYTES = 12;
const HEADER_NONCE = Buffer.alloc(NONCE_BYTES, 0xff);
const INFO = 'parley sealed file 1';
/** What was encrypted last, of all files of this thread: a new buffer for each chunk costs more than the cipher. */
let room = Buffer.alloc(0);

/** A new file’s cipher, with a salt of its own. */
export function createFileCipher(dataKey: Uint8Array, shape: EncryptedFileShape): FileCipher {
  const header = Buffer.alloc(ENCRYPTED_HEADER_BYTES);
  MAGIC.copy(header);
  randomBytes(16).copy(header, 8);
  header.writeUInt32LE(shape.chunkBytes, 24);
  if (shape.sound !== null) {
    const { format, firstSample } = shape.sound;
    header[28] = 1;
    header[29] = 1 + CODECS.indexOf(format.codec as (typeof CODECS)[number]);
    header.writeUInt32LE(format.rateHz, 32);
    header.writeUInt32LE(firstSample, 36);
  }
  const key = keyOfFile(dataKey, header);
  const cipher = createCipheriv('aes-256-gcm', key, HEADER_NONCE).setAAD(header.subarray(0, TAGGED_BYTES));
  cipher.final();
  cipher.getAuthTag().copy(header, TAGGED_BYTES);
  return cipherOf(key, header, shape);
}

/** The cipher of an existing file, from its first 64 bytes. Throws `EncryptedFileBroken`. */
export function openFileCipher(dataKey: Uint8Array, bytes: Uint8Array): FileCipher {
  const header = Buffer.from(bytes.subarray(0, ENCRYPTED_HEADER_BYTES));
  if (header.length < ENCRYPTED_HEADER_BYTES || !header.subarray(0, 8).equals(MAGIC)) {
    throw new EncryptedFileBroken('this is no sealed file of Parley, or its beginning is lost');
  }
  const key = keyOfFile(dataKey, header);
  try {
    createDecipheriv('aes-256-gcm', key, HEADER_NONCE)
      .setAAD(header.subarray(0, TAGGED_BYTES))
      .setAuthTag(header.subarray(TAGGED_BYTES))
      .final();
  } catch {
    throw new EncryptedFileBroken(
      'the header does not fit the recording’s key: it was changed, or the key is another one’s',
    );
  }
  return cipherOf(key, header, shapeOf(header));
}

/** Length of what is encrypted in a file of `fileBytes`, counting a torn chunk's bytes as if they were whole. */
export function plainBytesOf(fileBytes: number, chunkBytes: number): number {
  const encryptedBytes = Math.max(0, fileBytes - ENCRYPTED_HEADER_BYTES);
  const whole = Math.floor(encryptedBytes / (chunkBytes + CHUNK_TAG_BYTES));
  const rest = encryptedBytes - whole * (chunkBytes + CHUNK_TAG_BYTES);
  return whole * chunkBytes + Math.max(0, rest - CHUNK_TAG_BYTES);
}

/** Where chunk `chunk` begins in the file. */
export function chunkStartOf(chunk: number, chunkBytes: number): number {
  return ENCRYPTED_HEADER_BYTES + chunk * (chunkBytes + CHUNK_TAG_BYTES);
}

/** How many chunks a file of `fileBytes` has, a torn one counted. */
export function chunkCountOf(fileBytes: number, chunkBytes: number): number {
  return Math.ceil(Math.max(0, fileBytes - ENCRYPTED_HEADER_BYTES) / (chunkBytes + CHUNK_TAG_BYTES));
}

function keyOfFile(dataKey: Uint8Array, header: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', dataKey, header.subarray(8, 24), INFO, 32));
}

function shapeOf(header: Buffer): EncryptedFileShape {
  const chunkBytes = header.readUInt32LE(24);
  if (chunkBytes === 0 || chunkBytes > MOST_CHUNK_BYTES)
    throw new EncryptedFileBroken('a size of chunks that we never write');
  if (header[28] !== 1) return { chunkBytes, sound: null };
  const codec = CODECS[header[29]! - 1];
  if (codec === undefined) throw new EncryptedFileBroken('a codec that we never write');
  const rateHz = header.readUInt32LE(32) as LegFormat['rateHz'];
  return { chunkBytes, sound: { format: { codec, rateHz }, firstSample: header.readUInt32LE(36) } };
}

function cipherOf(key: Buffer, header: Buffer, { chunkBytes, sound }: EncryptedFileShape): FileCipher {
  const nonce = Buffer.alloc(NONCE_BYTES);
  const setNonce = (chunk: number, isLast: boolean): Buffer => {
    nonce[7] = isLast ? 1 : 0;
    nonce.writeUInt32BE(chunk, 8);
    return nonce;
  };
  return {
    chunkBytes,
    sound,
    header,
    encrypt(chunk, plain, isLast = false) {
      const cipher = createCipheriv('aes-256-gcm', key, setNonce(chunk, isLast));
      const body = cipher.update(plain);
      cipher.final();
      const lengthBytes = body.length + CHUNK_TAG_BYTES;
      if (room.length !== lengthBytes) room = Buffer.alloc(lengthBytes);
      room.set(body);
      cipher.getAuthTag().copy(room, body.length);
      return room.subarray(0, lengthBytes);
    },
    decrypt(chunk, encrypted, isLast = false) {
      if (encrypted.length < CHUNK_TAG_BYTES) return null;
      const end = encrypted.length - CHUNK_TAG_BYTES;
      const decipher = createDecipheriv('aes-256-gcm', key, setNonce(chunk, isLast)).setAuthTag(
        encrypted.subarray(end),
      );
      const plain = decipher.update(encrypted.subarray(0, end));
      try {
        decipher.final();
      } catch {
        return null;
      }
      return plain;
    },
  };
}
