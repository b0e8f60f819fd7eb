import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAnswerDocument } from '../../../../../bench/emulators/plivo/answer-document.ts';
import { InvalidDocumentError } from '../../../../../bench/emulators/xml-document.ts';
import { MULAW_8K } from '../../../../../media/contract/audio-format.ts';
import { streamDocument } from '../../../../../src/carriers/plivo/answer-xml.ts';

describe('an answer document', () => {
  it('as our carrier writes it is a stream, a pause and a redirect, with the URLs unescaped', () => {
    const mediaUrl = 'wss://gw.example.com/media/plivo/abc?x=1&y=2';
    const statusUrl = 'https://gw.example.com/a/stream?"\'<>&';
    const nextUrl = 'https://gw.example.com/a/next';
    const document = streamDocument({ mediaUrl, statusUrl, nextUrl, pauseSeconds: 2, format: MULAW_8K });
    const [stream, pause, redirect, ...rest] = parseAnswerDocument(document);
    expect(stream).toMatchObject({
      verb: 'stream',
      url: mediaUrl,
      statusUrl,
      bidirectional: true,
      keepCallAlive: true,
    });
    expect(stream).toMatchObject({ contentType: 'audio/x-mulaw;rate=8000', statusMethod: 'POST' });
    expect(pause).toEqual({ verb: 'wait', seconds: 2 });
    expect(redirect).toEqual({ verb: 'redirect', url: `${nextUrl}#ct=2000&rt=8000&rc=3&rp=ct,rt`, method: 'POST' });
    expect(rest).toEqual([]);
  });

  it('reads Speak, Wait, Redirect, comments, CDATA and character references', () => {
    const xml =
      '<?xml version="1.0"?><Response><!-- a --><Speak>Caf&#233; &amp; <![CDATA[<tea>]]></Speak><Wait length="2"/><Redirect method="get">https://x/y</Redirect><Play>z</Play></Response>';
    expect(parseAnswerDocument(xml)).toEqual([
      { verb: 'speak', text: 'Café & <tea>' },
      { verb: 'wait', seconds: 2 },
      { verb: 'redirect', url: 'https://x/y', method: 'GET' },
      { verb: 'unplayed', name: 'Play' },
    ]);
  });

  it.each([
    '',
    'not xml',
    '<Response>',
    '<Response></Other>',
    '<Reply/>',
    '<Response/><Response/>',
    '<Response><Stream>http://x/y</Stream></Response>',
    '<Response><Unknown/></Response>',
    '<Response><Speak>a & b</Speak></Response>',
    '<Response><Speak>a &nope; b</Speak></Response>',
    '<Response><Wait length="x"/></Response>',
    '<Response><Wait length="1" length="2"/></Response>',
    '<!DOCTYPE a><Response/>',
    '{"ok":true}',
  ])('is invalid: %s', (xml) => {
    expect(() => parseAnswerDocument(xml)).toThrow(InvalidDocumentError);
  });

  it('never fails otherwise than by InvalidDocumentError on 500 random texts', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '<Response>',
        '</Response>',
        '<Stream a="b">',
        '</Stream>',
        '&amp;',
        '&',
        '<',
        '>',
        '"',
        '<!--',
        '-->',
        '&#x41;',
        '&#0;',
      ),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        try {
          expect(Array.isArray(parseAnswerDocument(pieces.join('')))).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidDocumentError);
        }
      }),
      { numRuns: 500, seed: 9 },
    );
  });
});
