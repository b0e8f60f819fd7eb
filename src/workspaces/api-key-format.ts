/**
 * The text of an API key (contract §7), made and read. Pure; the rows are in `api-keys.ts`, the check of a request in
 * `src/api/authentication.ts`. The checksum rejects typing errors and guesses without a query, and lets scanners match.
 *
 *   sv_live_ │ 8 base62: public id │ _ │ 32 base62: secret │ 6 base62: CRC-32 of all before it
 *
 * An operator's key is the same with `sv_oper_`: neither is ever taken for the other.
 */
import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

export interface ApiKeyParts {
  /** Public: stored as it is, shown in logs. */
  keyId: string;
  secret: string;
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Whose key: a workspace's, or an operator's of the whole service. */
export type KeyKind = 'live' | 'oper';

const ID_CHARACTERS = 8;
const SECRET_CHARACTERS = 32;
const CHECKSUM_CHARACTERS = 6;
const KEY = /^sv_(live|oper)_([0-9A-Za-z]{8})_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

export function makeApiKey(
  random: (bytes: number) => Uint8Array = randomBytes,
  kind: KeyKind = 'live',
): ApiKeyParts & { text: string } {
  const keyId = randomBase62(ID_CHARACTERS, random);
  const secret = randomBase62(SECRET_CHARACTERS, random);
  const start = `sv_${kind}_${keyId}_${secret}`;
  return { keyId, secret, text: start + checksumOf(start) };
}

/** Null when the text is no key of this kind or its checksum is wrong. */
export function parseApiKey(text: string, wanted: KeyKind = 'live'): ApiKeyParts | null {
  const match = KEY.exec(text);
  if (match === null) return null;
  const [, kind, keyId = '', secret = '', checksum = ''] = match;
  if (kind !== wanted) return null;
  return checksum === checksumOf(text.slice(0, -CHECKSUM_CHARACTERS)) ? { keyId, secret } : null;
}

/** What is stored of the secret. A slow hash is for passwords; these are 190 random bits. */
export function sha256Of(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

function checksumOf(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let place = 0; place < CHECKSUM_CHARACTERS; place++) {
    digits = ALPHABET.charAt(rest % ALPHABET.length) + digits;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
}

function randomBase62(characters: number, random: (bytes: number) => Uint8Array): string {
  let text = '';
  while (text.length < characters) {
    // Bytes of 248 and more would favour the first letters of the alphabet.
    for (const byte of random(characters)) {
      if (byte < 248 && text.length < characters) text += ALPHABET.charAt(byte % ALPHABET.length);
    }
  }
  return text;
}
