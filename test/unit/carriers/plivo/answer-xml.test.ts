import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MULAW_8K } from '../../../../media/contract/audio-format.ts';
import { escapeXml, hangupDocument, streamDocument } from '../../../../src/carriers/plivo/answer-xml.ts';

const STREAM = {
  mediaUrl: 'wss://gw.example.com/media/plivo/T0ken',
  statusUrl: 'https://gw.example.com/c/stream',
  nextUrl: 'https://gw.example.com/c/next',
  pauseSeconds: 0,
  format: MULAW_8K,
};

describe('Plivo answer document', () => {
  it('opens a bidirectional mu-law stream that keeps the call, and asks again when it is over, after a pause where one is wanted', () => {
    expect(streamDocument(STREAM)).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n<Response><Stream bidirectional="true" keepCallAlive="true" ' +
        'contentType="audio/x-mulaw;rate=8000" statusCallbackUrl="https://gw.example.com/c/stream" ' +
        'statusCallbackMethod="POST">wss://gw.example.com/media/plivo/T0ken</Stream>' +
        '<Redirect method="POST">https://gw.example.com/c/next#ct=2000&amp;rt=8000&amp;rc=3&amp;rp=ct,rt</Redirect></Response>',
    );
    expect(streamDocument({ ...STREAM, pauseSeconds: 3 })).toContain('</Stream><Wait length="3"/><Redirect ');
  });

  it('escapes the ampersand of a query and quotes in an attribute', () => {
    const xml = streamDocument({ ...STREAM, mediaUrl: 'wss://gw/x?a=1&b=<2>', statusUrl: 'https://gw/"\'' });
    expect(xml).toContain('>wss://gw/x?a=1&amp;b=&lt;2&gt;</Stream>');
    expect(xml).toContain('statusCallbackUrl="https://gw/&quot;&apos;"');
  });

  it('says audio/x-l16;rate=16000 for PCM at 16 kHz, and refuses 24 kHz', () => {
    expect(streamDocument({ ...STREAM, format: { codec: 'pcm_s16le', rateHz: 16000 } })).toContain(
      '"audio/x-l16;rate=16000"',
    );
    expect(() => streamDocument({ ...STREAM, format: { codec: 'pcm_s16le', rateHz: 24000 } })).toThrow(/24000 Hz/);
  });

  it('refuses a media URL of 2049 characters and takes one of 2048', () => {
    const url = (length: number): string => `wss://gw/${'x'.repeat(length - 9)}`;
    expect(streamDocument({ ...STREAM, mediaUrl: url(2048) })).toContain(url(2048));
    expect(() => streamDocument({ ...STREAM, mediaUrl: url(2049) })).toThrow(/PUBLIC_URL/);
  });

  it('hangs up with one element', () => {
    expect(hangupDocument()).toBe('<?xml version="1.0" encoding="UTF-8"?>\n<Response><Hangup/></Response>');
  });

  it('leaves no markup and no forbidden character in any escaped text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const escaped = escapeXml(`${text}<&>"'\u0000\ud800`);
        expect(escaped).not.toMatch(/[<>"']/);
        expect(escaped.replace(/&(amp|lt|gt|quot|apos);/g, '')).not.toContain('&');
        expect(() => encodeURIComponent(escaped), 'a lone surrogate').not.toThrow();
      }),
      { numRuns: 300, seed: 11 },
    );
  });
});
