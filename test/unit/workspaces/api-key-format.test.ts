import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeApiKey, parseApiKey } from '../../../src/workspaces/api-key-format.ts';

const BASE62 = /^[0-9A-Za-z]$/;

describe('the text of an API key', () => {
  it('is sv_live_, 8 base62, _, 32 base62 and a checksum of 6, 55 characters in all, and reads back', () => {
    for (let count = 0; count < 200; count++) {
      const key = makeApiKey();
      expect(key.text).toMatch(/^sv_live_[0-9A-Za-z]{8}_[0-9A-Za-z]{38}$/);
      expect(key.text).toHaveLength(55);
      expect(parseApiKey(key.text)).toEqual({ keyId: key.keyId, secret: key.secret });
    }
  });

  it('is refused with any one character changed to any other', () => {
    const key = makeApiKey().text;
    fc.assert(
      fc.property(
        fc.nat(key.length - 1),
        fc.string({ minLength: 1, maxLength: 1, unit: 'grapheme-ascii' }),
        (at, other) => {
          fc.pre(key[at] !== other);
          expect(parseApiKey(key.slice(0, at) + other + key.slice(at + 1))).toBeNull();
        },
      ),
      { numRuns: 5_000 },
    );
  });

  it('is refused with two neighbours swapped, cut short or grown', () => {
    const key = makeApiKey().text;
    for (let at = 0; at + 1 < key.length; at++) {
      const [left = '', right = ''] = [key[at], key[at + 1]];
      if (left !== right)
        expect(parseApiKey(key.slice(0, at) + right + left + key.slice(at + 2)), `at ${at}`).toBeNull();
      expect(parseApiKey(key.slice(0, at))).toBeNull();
    }
    for (const tail of ['0', ' ', '\n']) expect(parseApiKey(key + tail)).toBeNull();
  });

  it('uses every letter of base62 about equally: none 20 % off over 100,000 characters', () => {
    const counts = new Map<string, number>();
    for (let count = 0; count < 3_125; count++) {
      for (const letter of makeApiKey().secret) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    }
    expect(counts.size).toBe(62);
    for (const [letter, count] of counts) {
      expect(letter).toMatch(BASE62);
      expect(Math.abs(count / (100_000 / 62) - 1), letter).toBeLessThan(0.2);
    }
  });
});
