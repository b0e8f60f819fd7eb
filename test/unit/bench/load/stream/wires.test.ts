/**
 * The carriers' sides of their media protocols against what the carriers document; signatures against published ones.
 */
import fc from 'fast-check';
import { validateV3Signature } from 'plivo';
import { describe, expect, test } from 'vitest';
import { clipOf } from '../../../../../bench/load/far-end/said-sound.ts';
import { plivoProtocol } from '../../../../../bench/load/targets/stream/plivo/plivo-protocol.ts';
import { TargetMessages } from '../../../../../bench/load/targets/stream/target-messages.ts';
import { twilioProtocol } from '../../../../../bench/load/targets/stream/twilio/twilio-protocol.ts';
import type { Wire } from '../../../../../bench/load/targets/stream/wire.ts';
import type { CarrierMessage } from '../../../../support/bots/carrier-message.ts';
import { joined, silence, tone } from '../emulated-target.ts';

const FRAME = clipOf(tone(20))[0]!;
const PAYLOAD = Buffer.from(tone(20)).toString('base64');

const twilio = (): Wire => twilioProtocol.createWire({ callId: 'CA1', parameters: { a: 'ü"' }, epochMs: () => 1_000 });
const plivo = (): Wire =>
  plivoProtocol.createWire({ callId: 'c1', parameters: { a: '1', b: '2' }, epochMs: () => 1_000 });
const parsed = (messages: string[]): CarrierMessage[] => messages.map((message) => JSON.parse(message));

describe('signatures', () => {
  const params = {
    CallSid: 'CA1234567890ABCDE',
    Caller: '+14158675309',
    Digits: '1234',
    From: '+14158675309',
    To: '+18005551212',
  };
  // Published with the carrier's own package.
  test.each([
    ['https://mycompany.com/myapp.php?foo=1&bar=2', 'RSOYDt4T1cUTdK1PDd93/VVr8B8='],
    ['https://mycompany.com:443/myapp.php?foo=1&bar=2', 'kvajT1Ptam85bY51eRf/AJRuM3w='],
    ['http://mycompany.com:80/myapp.php?foo=1&bar=2', '0ZXoZLH/DfblKGATFgpif+LLRf4='],
    ['http://mycompany.com:1234/myapp.php?foo=1&bar=2', 'Zmvh+3yNM1Phv2jhDCwEM3q5ebU='],
  ])("Twilio's of %s", (url, signature) => {
    expect(twilioProtocol.signatureOf({ method: 'POST', url, params }, '12345')).toEqual({
      'x-twilio-signature': signature,
    });
  });

  test.each([
    ['POST', 'https://bot.example.com/answer?x=1', 'https://bot.example.com/answer?x=1', params],
    ['GET', 'wss://bot.example.com/stream?call=1', 'wss://bot.example.com/stream?call=1', {}],
    ['GET', 'wss://bot.example.com/stream?call=1', 'https://bot.example.com/stream?call=1', {}],
  ] as const)("Plivo's %s of %s is right to its package over %s", (method, url, checked, fields) => {
    const headers = plivoProtocol.signatureOf({ method, url, params: fields }, 'token');
    const isRight = (token: string): unknown =>
      validateV3Signature(
        method,
        checked,
        headers['x-plivo-signature-v3-nonce']!,
        token,
        headers['x-plivo-signature-v3']!,
        fields as never,
      );
    expect(isRight('token')).toBe(true);
    expect(isRight('another')).toBe(false);
  });
});

describe('answer documents', () => {
  test("TwiML's Connect is followed, without the query that Twilio drops", () => {
    const xml =
      '<?xml version="1.0"?><Response><Say>Hi</Say><Pause length="2"/><Connect><Stream url="wss://b/s?token=1"><Parameter name="a" value="1&amp;2"/></Stream></Connect></Response>';
    expect(twilioProtocol.readDocument(xml)).toEqual([
      { step: 'wait', seconds: 2 },
      { step: 'stream', url: 'wss://b/s', parameters: { a: '1&2' } },
    ]);
  });

  test("Plivo's XML is followed; a stream that the tool cannot play says what to write", () => {
    const xml = (attributes: string): string =>
      `<Response><Stream ${attributes} extraHeaders="a=1;b=2">wss://b/s?x=1</Stream></Response>`;
    expect(plivoProtocol.readDocument(xml('bidirectional="true" contentType="audio/x-mulaw;rate=8000"'))).toEqual([
      { step: 'stream', url: 'wss://b/s?x=1', parameters: { a: '1', b: '2' } },
    ]);
    expect(() => plivoProtocol.readDocument(xml('contentType="audio/x-mulaw;rate=8000"'))).toThrow(/bidirectional/);
    expect(() => plivoProtocol.readDocument(xml('bidirectional="true"'))).toThrow(
      /contentType="audio\/x-mulaw;rate=8000"/,
    );
  });
});

describe("what the target's messages mean", () => {
  const sidOf = (wire: Wire): string => parsed(wire.opening())[1]!.streamSid;
  const idOf = (wire: Wire): string => parsed(wire.opening())[0]!.start.streamId;

  test('on Twilio', () => {
    const wire = twilio();
    const streamSid = sidOf(wire);
    expect(wire.read({ event: 'media', streamSid, media: { payload: 'AA==' } })).toEqual({
      says: 'audio',
      base64: 'AA==',
    });
    expect(wire.read({ event: 'mark', streamSid, mark: { name: 'm' } })).toEqual({ says: 'mark', name: 'm' });
    expect(wire.read({ event: 'clear', streamSid })).toEqual({ says: 'clear' });
    expect(parsed(wire.cleared(['m', 'n'])).map(({ mark }) => mark)).toEqual([{ name: 'm' }, { name: 'n' }]);
    for (const wrong of [{ event: 'clear' }, { event: 'playAudio' }, { event: 'media', streamSid, media: {} }, {}])
      expect(wire.read(wrong)).toMatchObject({ says: 'fault' });
  });

  test('on Plivo', () => {
    const wire = plivo();
    const streamId = idOf(wire);
    const media = { contentType: 'audio/x-mulaw', sampleRate: 8000, payload: 'AA==' };
    expect(wire.read({ event: 'playAudio', media })).toEqual({ says: 'audio', base64: 'AA==' });
    expect(wire.read({ event: 'checkpoint', streamId, name: 'c' })).toEqual({ says: 'mark', name: 'c' });
    expect(wire.read({ event: 'clearAudio', streamId })).toEqual({ says: 'clear' });
    expect(wire.read({ event: 'sendDTMF', dtmf: '12' })).toEqual({ says: 'nothing' });
    expect(parsed(wire.cleared(['c']))).toEqual([{ event: 'clearedAudio', sequenceNumber: 0, streamId }]);
    expect(wire.closing()).toBeNull();
    for (const wrong of [
      { event: 'playAudio', media: { ...media, sampleRate: 16000 } },
      { event: 'playAudio', media: { ...media, contentType: 'audio/x-l16' } },
      { event: 'clearAudio' },
      { event: 'media' },
    ])
      expect(wire.read(wrong)).toMatchObject({ says: 'fault' });
  });

  test('and what the carrier says is JSON with each frame as it is', () => {
    for (const wire of [twilio(), plivo()]) {
      wire.opening();
      const [first, second] = parsed([wire.media(FRAME, 0), wire.media(FRAME, 20)]);
      expect(first!.media.payload).toBe(PAYLOAD);
      expect(Number(second!.media.timestamp) - Number(first!.media.timestamp)).toBe(20);
      expect(Number(second!.sequenceNumber) - Number(first!.sequenceNumber)).toBe(1);
    }
    expect(parsed(plivo().opening())[0]!.extra_headers).toBe('a=1,b=2');
    expect(parsed(twilio().opening())[1]!.start.customParameters).toEqual({ a: 'ü"' });
  });
});

describe('messages are read', () => {
  const wire = twilio();
  const streamSid = parsed(wire.opening())[1]!.streamSid;
  const media = (sound: Uint8Array, between = ''): Buffer =>
    Buffer.from(
      `{"event":${between}"media","streamSid":"${streamSid}","media":{"payload":${between}"${Buffer.from(sound).toString('base64')}"}}`,
    );

  test.each(['', ' '])(
    'one by one or by their likeness, with "%s" between their parts, to the last byte',
    (between) => {
      const messages = new TargetMessages(wire);
      for (const [index, ms] of [20, 20, 60, 20, 1_000, 5_000, 3].entries()) {
        const sound = joined(tone(ms, -20, 300 + index * 50), silence(1));
        const heard = messages.read(media(sound, between));
        expect('heard' in heard && Buffer.compare(heard.mulaw, sound)).toBe(0);
      }
    },
  );

  test('what is like a media message and none is read as what it is', () => {
    const messages = new TargetMessages(wire);
    messages.read(media(tone(20)));
    const prefix = `{"event":"media","streamSid":"${streamSid}","media":{"payload":"`;
    const read = (text: string): unknown => messages.read(Buffer.from(text));
    expect(read(`${prefix}AA=="}]`)).toMatchObject({ says: 'fault', fault: 'a message that is not JSON' });
    expect(read(`${prefix}***"}}`)).toMatchObject({ says: 'fault', fault: 'a payload that is not base64' });
    expect(read(`${prefix}AA==","x":"AA=="}}`)).toMatchObject({ heard: 'audio', mulaw: new Uint8Array(1) });
    expect(read(`${prefix}"}}`)).toMatchObject({ heard: 'audio', mulaw: new Uint8Array(0) });
    expect(read(prefix)).toMatchObject({ says: 'fault', fault: 'a message that is not JSON' });
    expect(read('[1]')).toMatchObject({ says: 'fault' });
    expect(read(`{"event":"clear","streamSid":"${streamSid}"}`)).toEqual({ says: 'clear' });
  });

  test('whatever it is, and none of it throws', () => {
    const known = fc.constantFrom('media', 'mark', 'clear', 'playAudio', 'checkpoint', 'clearAudio', 'sendDTMF');
    const message = fc.oneof(
      fc.json(),
      fc.string(),
      fc.record({ event: known, media: fc.jsonValue() }).map((m) => JSON.stringify(m)),
    );
    for (const one of [twilio(), plivo()]) {
      const messages = new TargetMessages(one);
      fc.assert(
        fc.property(message, (text) => {
          const heard = messages.read(Buffer.from(text));
          expect('heard' in heard || heard.says !== undefined).toBe(true);
        }),
        { numRuns: 500 },
      );
    }
  });
});
