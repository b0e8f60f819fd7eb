import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCursorCodec } from '../../../src/api/cursor.ts';

const codec = createCursorCodec('ab'.repeat(32));
const SCOPE = { kind: 'calls', workspaceId: 'w1', filters: { status: 'failed', q: undefined } };
const REFUSED = expect.objectContaining({ code: 'invalid_cursor', status: 400 });

describe('a cursor', () => {
  it('gives back its parts, whatever they are, in the scope that it was made in', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 60 }), { maxLength: 4 }), (parts) => {
        expect(codec.decode(SCOPE, codec.encode(SCOPE, parts))).toEqual(parts);
      }),
    );
  });

  it('holds for the same filters in another order, with undefined ones and with dates', () => {
    const at = new Date('2026-11-21T00:00:00Z');
    const text = codec.encode({ ...SCOPE, filters: { a: 1, at, b: undefined } }, ['x']);
    expect(codec.decode({ ...SCOPE, filters: { at: at.toISOString(), a: 1 } }, text)).toEqual(['x']);
  });

  it('is refused in any other kind of list, workspace or set of filters, and under any other master key', () => {
    const text = codec.encode(SCOPE, ['x']);
    const foreign = [
      { ...SCOPE, kind: 'leads' },
      { ...SCOPE, workspaceId: 'w2' },
      { ...SCOPE, filters: {} },
      { ...SCOPE, filters: { status: 'completed' } },
      { ...SCOPE, filters: { status: 'failed', at: new Date(0) } },
    ];
    for (const scope of foreign) expect(() => codec.decode(scope, text)).toThrow(REFUSED);
    expect(() => createCursorCodec('cd'.repeat(32)).decode(SCOPE, text)).toThrow(REFUSED);
    const early = codec.encode({ ...SCOPE, filters: { at: new Date(1) } }, ['x']);
    expect(() => codec.decode({ ...SCOPE, filters: { at: new Date(2) } }, early)).toThrow(REFUSED);
  });

  it('is refused with any one character changed, left out or added', () => {
    const text = codec.encode(SCOPE, ['0199f0a2-6c1e-7b7a-9a58-3f6b6f0a2c11']);
    fc.assert(
      fc.property(fc.nat(text.length), fc.constantFrom('A', '7', '-', '_', '=', ' ', '/', ''), (at, by) => {
        for (const changed of [text.slice(0, at) + by + text.slice(at + 1), text.slice(0, at) + by + text.slice(at)]) {
          if (changed !== text) expect(() => codec.decode(SCOPE, changed)).toThrow(REFUSED);
        }
      }),
    );
  });

  it('is refused when it is no cursor at all: empty, words, 100,000 characters', () => {
    for (const text of ['', 'A', 'next', '%00', 'A'.repeat(100_000), Buffer.alloc(40).toString('base64url')]) {
      expect(() => codec.decode(SCOPE, text)).toThrow(REFUSED);
    }
  });
});
