import { createCipheriv, createHash, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sealedPlace } from '../../../src/sealing/sealed-places.ts';
import { createSealer } from '../../../src/sealing/sealer.ts';

const KEY = 'ab'.repeat(32);
const OTHER_KEY = 'cd'.repeat(32);
const PLACE = sealedPlace.toolSecret('w1', 'SHOP_KEY');

/** As versions before the binding sealed. */
function sealedUnbound(plain: string, keyHex: string): Buffer {
  const key = Buffer.from(keyHex, 'hex');
  const id = createHash('sha256').update(key).digest().subarray(0, 1);
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(id);
  const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return Buffer.concat([id, nonce, cipher.getAuthTag(), body]);
}

describe('the sealer', () => {
  it('gives back any text that it sealed, and never shows it in the sealed bytes', () => {
    const sealer = createSealer(KEY);
    fc.assert(
      fc.property(fc.string({ minLength: 8, unit: 'binary' }), (plain) => {
        const sealed = sealer.seal(plain, PLACE);
        expect(sealed.includes(Buffer.from(plain))).toBe(false);
        expect(sealer.open(sealed, PLACE)).toBe(plain);
      }),
    );
  });

  it('seals the same text to other bytes each time', () => {
    const sealer = createSealer(KEY);
    expect(sealer.seal('token', PLACE).equals(sealer.seal('token', PLACE))).toBe(false);
  });

  it('refuses a value in which any one byte was changed', () => {
    const sealer = createSealer(KEY);
    const sealed = sealer.seal('auth-token', PLACE);
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => sealer.open(changed, PLACE), `byte ${at}`).toThrow(/secret/);
      expect(() => sealer.open(sealed.subarray(0, at), PLACE), `cut at ${at}`).toThrow(/secret/);
    }
  });

  it('opens a value nowhere but in its table, its row and its workspace', () => {
    const sealer = createSealer(KEY);
    const sealed = sealer.seal('auth-token', PLACE);
    for (const elsewhere of [
      sealedPlace.toolSecret('w2', 'SHOP_KEY'),
      sealedPlace.toolSecret('w1', 'SHOP_KEY_2'),
      sealedPlace.clipKey('w1', 'SHOP_KEY'),
      sealedPlace.lineCredentials('w1', 'SHOP_KEY'),
      sealedPlace.embedSigningKey('SHOP_KEY'),
    ]) {
      expect(() => sealer.open(sealed, elsewhere), JSON.stringify(elsewhere)).toThrow(/another row/);
    }
    expect(sealer.open(sealed, sealedPlace.toolSecret('w1', 'SHOP_KEY'))).toBe('auth-token');
  });

  it('opens what a former version sealed, which is bound to no place, under any key that it has', () => {
    const sealed = sealedUnbound('auth-token', KEY);
    expect(createSealer(KEY).open(sealed, PLACE)).toBe('auth-token');
    expect(createSealer([OTHER_KEY, KEY]).open(sealed, PLACE)).toBe('auth-token');
    expect(() => createSealer(OTHER_KEY).open(sealed, PLACE)).toThrow(/another PARLEY_MASTER_KEY/);
  });

  it('seals with the first of its keys and opens with both', () => {
    const both = createSealer([OTHER_KEY, KEY]);
    expect(both.open(createSealer(KEY).seal('x', PLACE), PLACE)).toBe('x');
    const sealed = both.seal('y', PLACE);
    expect(createSealer(OTHER_KEY).open(sealed, PLACE)).toBe('y');
    expect(() => createSealer(KEY).open(sealed, PLACE)).toThrow(/another PARLEY_MASTER_KEY/);
  });

  it('says that another master key is the cause when the key id differs', () => {
    const sealed = createSealer(KEY).seal('x', PLACE);
    expect(() => createSealer(OTHER_KEY).open(sealed, PLACE)).toThrow(/another PARLEY_MASTER_KEY/);
  });

  it('refuses a master key that is not 64 hexadecimal digits', () => {
    expect(() => createSealer('abc')).toThrow(/64 hexadecimal digits/);
  });
});
