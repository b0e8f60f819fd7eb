/**
 * Master keys as the rest of the code sees them: the one that seals and signs now, and those that still open. While a
 * rotation runs there are two. What is derived from a master key (signatures, tokens) is
 * derived here, from each of them. Pure.
 */
import { createHmac, hkdfSync } from 'node:crypto';

export interface MasterKey {
  /** Four bytes that name the key in what it sealed: made with the key, they say nothing about it. */
  readonly id: Buffer;
  readonly bytes: Buffer;
}

export interface MasterKeys {
  /** Seals and signs. */
  current(): MasterKey;
  /** All that open and verify, the current one first. */
  all(): readonly MasterKey[];
}

/** 64 hexadecimal digits, or several such keys, of which the first seals: keys that stay as they are. */
export type GivenKeys = MasterKeys | string | readonly string[];

const KEY_HEX = /^[0-9a-fA-F]{64}$/;
const ID_BYTES = 4;

export function isMasterKeyHex(text: string): boolean {
  return KEY_HEX.test(text);
}

export function masterKeyOf(hex: string): MasterKey {
  if (!isMasterKeyHex(hex)) {
    throw new Error('PARLEY_MASTER_KEY must be 64 hexadecimal digits; make one with: openssl rand -hex 32');
  }
  const bytes = Buffer.from(hex, 'hex');
  const id = createHmac('sha256', bytes).update('parley master key id').digest().subarray(0, ID_BYTES);
  return { id, bytes };
}

export function fixedKeys(keys: readonly MasterKey[]): MasterKeys {
  const [first] = keys;
  if (first === undefined) throw new Error('There is no master key.');
  return { current: () => first, all: () => keys };
}

export function masterKeysOf(given: GivenKeys): MasterKeys {
  if (typeof given === 'object' && 'current' in given) return given;
  return fixedKeys((typeof given === 'string' ? [given] : given).map(masterKeyOf));
}

export interface DerivedKeys {
  /** Signs. */
  current(): Buffer;
  /** All that verify, the current one first. */
  all(): Buffer[];
}

/** A key of its own for each use, and for each master key; made once. */
export function derivedKeys(given: GivenKeys, derive: (masterKey: Buffer) => Buffer): DerivedKeys {
  const keys = masterKeysOf(given);
  const made = new WeakMap<MasterKey, Buffer>();
  const of = (key: MasterKey): Buffer => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const derived = derive(key.bytes);
    made.set(key, derived);
    return derived;
  };
  return { current: () => of(keys.current()), all: () => keys.all().map(of) };
}

/** By HKDF; `use` names what the key is for. */
export function hkdfKeys(given: GivenKeys, use: string): DerivedKeys {
  return derivedKeys(given, (masterKey) => Buffer.from(hkdfSync('sha256', masterKey, '', use, 32)));
}
