import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildEventBody } from '../../../src/webhooks/event-body.ts';
import { bodyText, MAX_BODY_BYTES } from '../../../src/webhooks/payload-limit.ts';
import { sampleCall } from './sample-call.ts';

describe('the text of a body', () => {
  it('is left alone up to 262,144 bytes, and one byte more costs its largest field', () => {
    const of = (length: number) => ({ event: 'x', id: 'evt_1', big: 'a'.repeat(length), small: 'b' });
    const room = MAX_BODY_BYTES - JSON.stringify(of(0)).length;
    expect(JSON.parse(bodyText(of(room)))).toEqual(of(room));
    expect(JSON.parse(bodyText(of(room + 1)))).toEqual({ ...of(0), big: null, omittedFields: ['big'] });
  });

  it('counts bytes, not characters', () => {
    expect(JSON.parse(bodyText({ event: 'x', big: '€'.repeat(90_000) }))).toMatchObject({ big: null });
  });

  it('of a call with the longest transcript and metadata that there can be is whole', () => {
    const metadata = Object.fromEntries(Array.from({ length: 4 }, (_, n) => [`k${n}`, '"'.repeat(2_000)]));
    const body = buildEventBody(sampleCall({ metadata }), {
      event: 'call.completed',
      id: 'evt_1',
      timestampEpochMs: 0,
      sequence: 1,
      transcript: `${'"\\'.repeat(100)}\n`.repeat(1_000),
      turnCount: 1_000,
      extra: {},
    });
    const text = bodyText(body);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_BODY_BYTES);
    const sent = JSON.parse(text);
    expect(sent).toMatchObject({ transcriptTruncated: true, metadata });
    expect(sent).not.toHaveProperty('omittedFields');
    expect(Buffer.byteLength(sent.transcript)).toBeLessThanOrEqual(65_536);
  });

  it('never exceeds the bound, is JSON, and keeps what identifies the event, whatever the fields hold', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ minLength: 1, maxLength: 8 }), fc.string({ maxLength: 400, unit: 'binary' }), {
          maxKeys: 12,
        }),
        (fields) => {
          const given = { ...fields, event: 'x', callUuid: 'c', id: 'evt_1', sequence: 1 };
          const text = bodyText(given, 600);
          expect(Buffer.byteLength(text)).toBeLessThanOrEqual(600);
          expect(JSON.parse(text)).toMatchObject({ event: 'x', callUuid: 'c', id: 'evt_1', sequence: 1 });
        },
      ),
      { seed: 7, numRuns: 300 },
    );
  });
});
