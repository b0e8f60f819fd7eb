import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MULAW_8K } from '../../../../../../media/contract/audio-format.ts';
import type { StreamEvents, StreamStart } from '../../../../../../media/io/carriers/media-codec.ts';
import { MediaScan } from '../../../../../../media/io/carriers/media-scan.ts';
import { createPlivoCodecFactory } from '../../../../../../media/io/carriers/plivo/plivo-codec.ts';

interface Heard {
  events: string[];
  starts: StreamStart[];
  audio: { bytes: Buffer; timestampMs: number }[];
}

function makeCodec() {
  const heard: Heard = { events: [], starts: [], audio: [] };
  const events: StreamEvents = {
    started: (start) => heard.starts.push(start),
    audio: (bytes, start, lengthBytes, timestampMs) =>
      heard.audio.push({ bytes: Buffer.from(bytes.subarray(start, start + lengthBytes)), timestampMs }),
    digit: (digit) => heard.events.push(`digit ${digit}`),
    played: (name) => heard.events.push(`played ${name}`),
    cleared: () => heard.events.push('cleared'),
    stopped: () => heard.events.push('stopped'),
    faulted: (detail) => heard.events.push(`faulted ${detail}`),
  };
  const codec = createPlivoCodecFactory({ framesPerMessage: 1 }).create(MULAW_8K, events);
  const decode = (text: string | object) =>
    codec.decode(Buffer.from(typeof text === 'string' ? text : JSON.stringify(text)), false);
  return { codec, heard, decode };
}

function media(payload: string, timestamp = '1700000000123', chunk = 1, sequenceNumber = 2): object {
  return {
    event: 'media',
    sequenceNumber,
    streamId: '5f0c1a52-0000-4000-8000-000000000001',
    media: { track: 'inbound', timestamp, chunk, payload },
    extra_headers: '',
  };
}

const frame = Buffer.from(Array.from({ length: 160 }, (_, i) => (i * 7) & 255));

describe('inbound audio', () => {
  test('20 ms of mu-law come out as the 160 bytes that went in, with the timestamp in ms', () => {
    const { heard, decode } = makeCodec();
    expect(decode(media(frame.toString('base64')))).toBe('audio');
    expect(heard.audio).toEqual([{ bytes: frame, timestampMs: 1700000000123 }]);
  });

  test('two streams of one process whose messages have one length and other orders of keys are both right, message by message', () => {
    const scan = new MediaScan();
    const payload = frame.toString('base64');
    const one = { event: 'media', media: { track: 'inbound', timestamp: '1234', payload } };
    const other = { event: 'media', media: { timestamp: '5678', payload, track: 'outbound' } };
    const padded = (text: string, length: number): Buffer =>
      Buffer.from(text.replace('{', `{${' '.repeat(length - text.length)}`));
    const length = JSON.stringify(other).length + 3;
    for (let i = 0; i < 10; i++) {
      const bytes = padded(JSON.stringify(i % 2 === 0 ? one : other), length);
      expect(scan.scan(bytes)).toBe('media');
      expect(bytes.subarray(scan.payloadStart, scan.payloadEnd).toString()).toBe(payload);
      expect([scan.timestampMs, scan.trackByte]).toEqual(i % 2 === 0 ? [1234, 0x69] : [5678, 0x6f]);
    }
  });

  test('1,200 messages whose numbers grow by digits are right, and at least 1,190 of them are found at the remembered place', () => {
    const scan = new MediaScan();
    for (let i = 1; i <= 1200; i++) {
      const payload = Buffer.from(frame.map((byte) => byte ^ (i & 255))).toString('base64');
      const bytes = Buffer.from(JSON.stringify(media(payload, String(1700000000123 + i * 20), i, i + 1)));
      expect(scan.scan(bytes)).toBe('media');
      expect(bytes.subarray(scan.payloadStart, scan.payloadEnd).toString()).toBe(payload);
      expect(scan.timestampMs).toBe(1700000000123 + i * 20);
    }
    expect(scan.fastHits).toBeGreaterThanOrEqual(1190);
  });

  test('any mix of payload sizes, key orders and white space decodes to what JSON.parse and Buffer say', () => {
    const shuffled = (payload: Buffer, order: number, indent: number, track: boolean, numeric: boolean): string => {
      const inner: [string, unknown][] = [
        ['payload', payload.toString('base64')],
        ['timestamp', numeric ? 777 : '777'],
        ['note', 'a "quoted" \\ "payload":"AAAA" }'],
      ];
      if (track) inner.push(['track', 'inbound']);
      const outer: [string, unknown][] = [
        ['media', Object.fromEntries(rotate(inner, order))],
        ['event', 'media'],
        ['extra_headers', '{event: media, "media":{"payload":"QUFB"}}'],
        ['more', [{ payload: 'QUFB', event: 'stop' }, [1, null, true]]],
      ];
      return JSON.stringify(Object.fromEntries(rotate(outer, order >> 2)), null, indent);
    };
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 700 }), fc.nat(15), fc.nat(2), fc.boolean(), fc.boolean()),
          { minLength: 1, maxLength: 8 },
        ),
        (messages) => {
          const { heard, decode } = makeCodec();
          for (const [bytes, order, indent, track, numeric] of messages) {
            expect(decode(shuffled(Buffer.from(bytes), order, indent, track, numeric))).toBe('audio');
            const last = heard.audio.at(-1)!;
            expect(last.bytes.equals(Buffer.from(bytes))).toBe(true);
            expect(last.timestampMs).toBe(777);
          }
        },
      ),
      { seed: 20, numRuns: 300 },
    );
  });

  test('a payload shorter by one group after a longer one is found anew', () => {
    const { heard, decode } = makeCodec();
    decode(media(frame.toString('base64')));
    const shorter = JSON.stringify(media(frame.subarray(0, 157).toString('base64')));
    const text = shorter.replace('"extra_headers":""', '"":1');
    // A quote stands where the longer payload had its closing one.
    expect(text[text.indexOf('"payload":"') + 11 + 216]).toBe('"');
    expect(decode(text)).toBe('audio');
    expect(heard.audio.at(-1)!.bytes.length).toBe(157);
  });

  test('what stands at the remembered place is taken only when its keys, its event and its track are the same', () => {
    const { heard, decode } = makeCodec();
    const usual = JSON.stringify(media(frame.toString('base64')));
    decode(usual);
    const quiet = Buffer.alloc(160, 0xff).toString('base64');
    const renamed = usual.replace('"payload":', '"comment":');
    // The real payload comes behind; the old place holds good base64 under another key.
    expect(decode(renamed.replace('"},"extra', `","payload":"${quiet}"},"extra`))).toBe('audio');
    expect(heard.audio.at(-1)!.bytes.equals(Buffer.alloc(160, 0xff))).toBe(true);
    decode(usual);
    const swapped = usual.replace('"payload":', '"comment":').replace('"extra_headers":""', '"extra_headers":" "');
    expect(swapped.indexOf(frame.toString('base64'))).toBe(usual.indexOf(frame.toString('base64')));
    expect(decode(swapped)).toBe('malformed');
    decode(usual);
    expect(decode(usual.replace('"event":"media"', '"event":"mediu"'))).toBe('ignored');
    decode(usual);
    decode(usual.replace('"timestamp":', '"timestomp":'));
    expect(heard.audio.at(-1)!.timestampMs).toBeNaN();
  });

  test('escaped slashes in the payload are unescaped', () => {
    const { heard, decode } = makeCodec();
    const payload = Buffer.from([255, 255, 255, 254, 63, 191]);
    const text = JSON.stringify(media(payload.toString('base64')));
    expect(text).toContain('/');
    expect(decode(text.replaceAll('/', '\\/'))).toBe('audio');
    expect(heard.audio[0]!.bytes.equals(payload)).toBe(true);
  });

  test('the outbound track is not heard', () => {
    const { heard, decode } = makeCodec();
    const own = media('AAAA') as { media: { track: string } };
    decode(media('AAAA'));
    own.media.track = 'outbound';
    expect(decode(own)).toBe('ignored');
    expect(heard.audio.length).toBe(1);
  });

  test('a timestamp that is no number of ms is NaN', () => {
    const { heard, decode } = makeCodec();
    for (const timestamp of ['', '12:00', '-5', '1'.repeat(16)]) decode(media('AAAA', timestamp));
    expect(heard.audio.map((one) => one.timestampMs)).toEqual([Number.NaN, Number.NaN, Number.NaN, Number.NaN]);
  });

  test.each([
    ['an empty payload', ''],
    ['characters outside the alphabet', '!!!!'],
    ['a length that is no multiple of 4', 'AAA'],
    ['padding within', 'A=AA'],
  ])('a payload with %s is bad audio, and the next good one is heard', (_what, payload) => {
    const { heard, decode } = makeCodec();
    decode(media('AAAA'));
    expect(decode(media(payload))).toBe('bad_audio');
    expect(decode(media('AAAA'))).toBe('audio');
    expect(heard.audio.length).toBe(2);
  });
});

describe('rare messages', () => {
  test('start tells call, stream and format', () => {
    const { heard, decode } = makeCodec();
    const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000 };
    const start = { callId: 'c-1', streamId: 's-1', accountId: 'MA', tracks: ['inbound'], mediaFormat };
    expect(decode({ event: 'start', sequenceNumber: 1, start, extra_headers: '{a: b}' })).toBe('event');
    decode({
      event: 'start',
      start: { ...start, mediaFormat: { encoding: 'audio/x-l16;rate=16000', sampleRate: 16000 } },
    });
    decode({ event: 'start', start: { ...start, mediaFormat: { encoding: 'audio/opus', sampleRate: 48000 } } });
    decode({ event: 'start' });
    expect(heard.starts).toEqual([
      { carrierCallId: 'c-1', streamId: 's-1', format: { codec: 'mulaw', rateHz: 8000 } },
      { carrierCallId: 'c-1', streamId: 's-1', format: { codec: 'pcm_s16le', rateHz: 16000 } },
      { carrierCallId: 'c-1', streamId: 's-1', format: 'unsupported' },
      { carrierCallId: '', streamId: '', format: null },
    ]);
  });

  test('digits, both names of the played event, clearedAudio, stop and faults are told; the rest is ignored', () => {
    const { heard, decode } = makeCodec();
    decode({ event: 'dtmf', dtmf: { track: 'inbound', digit: '5' } });
    decode({ event: 'dtmf', dtmf: { digit: '#' } });
    expect(decode({ event: 'dtmf', dtmf: { digit: '55' } })).toBe('ignored');
    decode({ event: 'playedStream', name: 'g0-10' });
    decode({ event: 'played', name: 'g0-20' });
    decode({ event: 'clearedAudio', sequenceNumber: 0 });
    decode({ event: 'error', reason: 'buffer_overflow' });
    decode({ event: 'playFailed' });
    decode({ event: 'stop' });
    expect(decode({ event: 'checkpoint' })).toBe('ignored');
    expect(decode({ media: { payload: 'AAAA' } })).toBe('ignored');
    expect(heard.events).toEqual([
      'digit 5',
      'digit #',
      'played g0-10',
      'played g0-20',
      'cleared',
      'faulted buffer_overflow',
      'faulted no reason given',
      'stopped',
    ]);
  });
});

describe('input that is no message', () => {
  test('garbage, half a message, an array, a bare string and binary are malformed', () => {
    const { codec, decode } = makeCodec();
    const whole = JSON.stringify(media('AAAA'));
    for (const text of ['', ' ', 'hello', '[]', '"media"', '{', '{"event"', '{"event":"start"', `${whole}x`]) {
      expect(decode(text)).toBe('malformed');
    }
    for (let i = 0; i < whole.length; i++) expect(decode(whole.slice(0, i))).toBe('malformed');
    expect(codec.decode(Buffer.from(whole), true)).toBe('malformed');
  });

  test('random bytes and mutated messages never throw, and never look past the end', () => {
    const { codec, decode } = makeCodec();
    const whole = Buffer.from(JSON.stringify(media(frame.toString('base64'))));
    decode(whole.toString());
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 400 }),
          fc
            .tuple(fc.nat(whole.length), fc.nat(whole.length), fc.uint8Array({ maxLength: 12 }))
            .map(([a, b, noise]) =>
              Buffer.concat([whole.subarray(0, Math.min(a, b)), noise, whole.subarray(Math.max(a, b))]),
            ),
        ),
        (bytes) => {
          // A message lies within a larger buffer whose rest would complete it: reading on would show.
          const padded = Buffer.concat([bytes, whole]);
          const result = codec.decode(padded.subarray(0, bytes.length), false);
          expect(['audio', 'event', 'ignored', 'bad_audio', 'malformed']).toContain(result);
          expect(codec.decode(new Uint8Array(bytes), false)).toBe(result);
        },
      ),
      { seed: 7, numRuns: 5000 },
    );
  });
});

describe('outbound messages', () => {
  test('1, 2 and 3 frames make one playAudio each whose payload is their bytes', () => {
    const { codec } = makeCodec();
    const frames = Buffer.concat([frame, frame.map((byte) => byte ^ 1), frame.map((byte) => byte ^ 2)]);
    for (const count of [1, 2, 3, 1]) {
      const body = JSON.parse(Buffer.from(codec.audioMessage(frames, 0, count * 160)).toString());
      const { payload, ...rest } = body.media;
      expect({ event: body.event, ...rest }).toEqual({
        event: 'playAudio',
        contentType: 'audio/x-mulaw',
        sampleRate: 8000,
      });
      expect(Buffer.from(payload, 'base64').equals(frames.subarray(0, count * 160))).toBe(true);
    }
    expect(codec.audioMessage(frames, 160, 160).length).toBe(308);
  });

  test('checkpoint and clearAudio name the stream that start named', () => {
    const { codec, decode } = makeCodec();
    decode({ event: 'start', start: { callId: 'c', streamId: 's-9' } });
    expect(JSON.parse(Buffer.from(codec.checkpointMessage('g2-40')).toString())).toEqual({
      event: 'checkpoint',
      streamId: 's-9',
      name: 'g2-40',
    });
    for (const name of ['g-2147483648-2147483647', 'g1-2', 'g-2147483648--2147483648'])
      expect(JSON.parse(Buffer.from(codec.checkpointMessage(name)).toString()).name).toBe(name);
    expect(() => codec.checkpointMessage('x'.repeat(25))).toThrow(RangeError);
    expect(JSON.parse(Buffer.from(codec.clearMessage()).toString())).toEqual({ event: 'clearAudio', streamId: 's-9' });
  });

  test('keys pressed towards the far end go as sendDTMF', () => {
    const { codec } = makeCodec();
    expect(JSON.parse(Buffer.from(codec.digitsMessage!('12#A')).toString())).toEqual({
      event: 'sendDTMF',
      dtmf: '12#A',
    });
  });
});

function rotate<T>(list: T[], by: number): T[] {
  const at = by % list.length;
  return [...list.slice(at), ...list.slice(0, at)];
}
