import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSealer } from '../../../src/store/secrets.ts';

const KEY = 'ab'.repeat(32);

describe('the sealer', () => {
  it('gives back any text that it sealed, and never shows it in the sealed bytes', () => {
    const sealer = createSealer(KEY);
    fc.assert(
      fc.property(fc.string({ minLength: 8, unit: 'binary' }), (plain) => {
        const sealed = sealer.seal(plain);
        expect(sealed.includes(Buffer.from(plain))).toBe(false);
        expect(sealer.open(sealed)).toBe(plain);
      }),
    );
  });

  it('seals the same text to other bytes each time', () => {
    const sealer = createSealer(KEY);
    expect(sealer.seal('token').equals(sealer.seal('token'))).toBe(false);
  });

  it('refuses a value in which any one byte was changed', () => {
    const sealer = createSealer(KEY);
    const sealed = sealer.seal('auth-token');
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => sealer.open(changed), `byte ${at}`).toThrow(/secret/);
    }
  });

  it('says that another master key is the cause when the key id differs', () => {
    const sealed = createSealer(KEY).seal('x');
    expect(() => createSealer('cd'.repeat(32)).open(sealed)).toThrow(/another PARLEY_MASTER_KEY/);
  });

  it('refuses a master key that is not 64 hexadecimal digits', () => {
    expect(() => createSealer('abc')).toThrow(/64 hexadecimal digits/);
  });
});
