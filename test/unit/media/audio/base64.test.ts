import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base64LengthOf, decodeBase64, encodeBase64 } from '../../../../media/audio/base64.ts';

const decodeText = (text: string, target = new Uint8Array(1024)) =>
  decodeBase64(Buffer.from(text, 'latin1'), 0, text.length, target, 0);

describe('base64 on byte ranges', () => {
  it('encodes as Buffer does, for any bytes at any offset, and touches nothing outside its range', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 700 }), fc.nat(5), fc.nat(5), (bytes, before, targetStart) => {
        const source = new Uint8Array(before + bytes.length + 3).fill(0xaa);
        source.set(bytes, before);
        const want = Buffer.from(bytes).toString('base64');
        const target = new Uint8Array(targetStart + want.length + 4).fill(0x2e);
        expect(encodeBase64(source, before, bytes.length, target, targetStart)).toBe(want.length);
        expect(base64LengthOf(bytes.length)).toBe(want.length);
        expect(Buffer.from(target).toString('latin1')).toBe(`${'.'.repeat(targetStart)}${want}....`);
      }),
    );
  });

  it('decodes what Buffer encoded, for any bytes at any offset, and touches nothing outside its range', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 700 }), fc.nat(5), fc.nat(5), (bytes, before, targetStart) => {
        const text = Buffer.from(bytes).toString('base64');
        const source = Buffer.from(`${'"'.repeat(before)}${text}"}`, 'latin1');
        const target = new Uint8Array(targetStart + bytes.length + 4).fill(0xaa);
        expect(decodeBase64(source, before, before + text.length, target, targetStart)).toBe(bytes.length);
        expect([...target.subarray(targetStart, targetStart + bytes.length)]).toEqual([...bytes]);
        target.fill(0xaa, targetStart, targetStart + bytes.length);
        expect(target.every((byte) => byte === 0xaa)).toBe(true);
      }),
    );
  });

  it('returns -1 when any one of 216 characters is foreign', () => {
    const text = Buffer.from(new Uint8Array(162).fill(0x5a)).toString('base64');
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.nat(255), (at, character) => {
        const source = Buffer.from(text, 'latin1');
        source[at] = character;
        const fine =
          /[A-Za-z0-9+/]/.test(String.fromCharCode(character)) || (at === text.length - 1 && character === 0x3d);
        expect(decodeBase64(source, 0, source.length, new Uint8Array(162), 0) >= 0).toBe(fine);
      }),
      { numRuns: 2000 },
    );
  });

  it.each(['A', 'AB', 'ABC', 'ABCDE', '=', '====', 'A===', 'AB=C', '=ABC', 'AB==CDEF', 'AB\\/CDEF', 'AB-_', 'AB C'])(
    'returns -1 for %s',
    (text) => {
      expect(decodeText(text)).toBe(-1);
    },
  );

  it('returns 0 for the empty range and -1 for a range that ends before it starts or beyond the source', () => {
    expect(decodeText('')).toBe(0);
    expect(decodeBase64(Buffer.from('ABCD'), 2, 0, new Uint8Array(8), 0)).toBe(-1);
    expect(decodeBase64(Buffer.from('ABCD'), 0, 8, new Uint8Array(8), 0)).toBe(-1);
  });

  it('returns -1 rather than a cut frame when the target has no room', () => {
    const text = Buffer.from(new Uint8Array(160)).toString('base64');
    expect(decodeText(text, new Uint8Array(160))).toBe(160);
    expect(decodeText(text, new Uint8Array(159))).toBe(-1);
    expect(decodeBase64(Buffer.from(text), 0, text.length, new Uint8Array(200), 41)).toBe(-1);
  });
});
