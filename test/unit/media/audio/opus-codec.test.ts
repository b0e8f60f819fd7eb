import { describe, expect, it } from 'vitest';
import {
  loadOpusCodec,
  MAX_OPUS_PACKET_BYTES,
  type OpusCodec,
  type OpusRateHz,
} from '../../../../media/audio/opus-codec.ts';

function implementations(): OpusCodec[] {
  const codecs = [loadOpusCodec('opusscript')];
  try {
    codecs.push(loadOpusCodec('discordjs'));
  } catch {
    // Its native binding is optional: where it is missing there is one implementation to test.
  }
  return codecs;
}

const VOIP_32K = { bitsPerSec: 32000, complexity: 1 };

/** A chirp per channel: its place in time is unmistakable. */
function stereoChirp(rateHz: number, samples: number): Int16Array {
  const interleaved = new Int16Array(samples * 2);
  for (let i = 0; i < samples; i++) {
    const t = i / rateHz;
    interleaved[2 * i] = Math.round(8000 * Math.sin(2 * Math.PI * (400 + 500 * t) * t));
    interleaved[2 * i + 1] = Math.round(8000 * Math.sin(2 * Math.PI * (1500 - 400 * t) * t));
  }
  return interleaved;
}

function roundTrip(codec: OpusCodec, rateHz: OpusRateHz, interleaved: Int16Array, frameMs = 20): Int16Array {
  const encoder = codec.createEncoder({ rateHz, channels: 2, ...VOIP_32K });
  const decoder = codec.createDecoder({ rateHz, channels: 2 });
  const frame = (rateHz * frameMs) / 1000;
  const packet = new Uint8Array(MAX_OPUS_PACKET_BYTES + 3);
  const scratch = new Int16Array(5760 * 2);
  const out: number[] = [];
  for (let at = 0; at + 2 * frame <= interleaved.length; at += 2 * frame) {
    const bytes = encoder.encode(interleaved.subarray(at, at + 2 * frame), packet, 3);
    expect(decoder.decode(packet, 3, bytes, scratch)).toBe(frame);
    out.push(...scratch.subarray(0, 2 * frame));
  }
  encoder.close();
  decoder.close();
  return Int16Array.from(out);
}

/** The lag in samples at which `got` fits `want` best. */
function lagOf(want: Int16Array, got: Int16Array, channel: 0 | 1, longest: number): number {
  let best = Number.NEGATIVE_INFINITY;
  let bestLag = -1;
  for (let lag = 0; lag <= longest; lag++) {
    let sum = 0;
    for (let i = 0; 2 * (i + lag) + channel < got.length; i++)
      sum += want[2 * i + channel]! * got[2 * (i + lag) + channel]!;
    if (sum > best) [best, bestLag] = [sum, lag];
  }
  return bestLag;
}

describe.each(implementations().map((codec) => [codec.implementation, codec] as const))(
  'Opus by %s',
  (_name, codec) => {
    it.each([8000, 16000, 48000] as const)(
      'lags by its stated lookahead of 6.5 ms at %i Hz, ±0.2 ms, on both channels',
      (rateHz) => {
        const input = stereoChirp(rateHz, rateHz / 2);
        const output = roundTrip(codec, rateHz, input);
        const encoder = codec.createEncoder({ rateHz, channels: 2, ...VOIP_32K });
        const lookahead = (encoder.lookaheadTicks * rateHz) / 48000;
        encoder.close();
        for (const channel of [0, 1] as const) {
          expect(Math.abs(lagOf(input, output, channel, lookahead * 2) - lookahead)).toBeLessThanOrEqual(rateHz / 5000);
        }
      },
    );

    it.each([2.5, 5, 10, 20, 40, 60])('takes frames of %d ms', (frameMs) => {
      expect(roundTrip(codec, 16000, stereoChirp(16000, 1920), frameMs).length).toBe(3840);
    });

    it('keeps about its bit rate: 1 s of two voices at 32 kb/s is under 5 kB, and a packet fits its room', () => {
      const encoder = codec.createEncoder({ rateHz: 8000, channels: 2, ...VOIP_32K });
      const input = stereoChirp(8000, 8000);
      const packet = new Uint8Array(MAX_OPUS_PACKET_BYTES);
      let bytes = 0;
      for (let at = 0; at < input.length; at += 320) bytes += encoder.encode(input.subarray(at, at + 320), packet, 0);
      encoder.close();
      expect(bytes).toBeGreaterThan(1500);
      expect(bytes).toBeLessThan(5000);
    });

    it('makes the same packets again after the first user of an encoder has closed it', () => {
      const input = stereoChirp(8000, 4000);
      expect(roundTrip(codec, 8000, input)).toEqual(roundTrip(codec, 8000, input));
    });

    it('keeps twenty open encoders apart', () => {
      const input = stereoChirp(8000, 4000);
      const alone = new Uint8Array(MAX_OPUS_PACKET_BYTES);
      const among = new Uint8Array(MAX_OPUS_PACKET_BYTES);
      const one = codec.createEncoder({ rateHz: 8000, channels: 2, ...VOIP_32K });
      const lengths: number[] = [];
      const packets: Uint8Array[] = [];
      for (let at = 0; at < input.length; at += 320) {
        lengths.push(one.encode(input.subarray(at, at + 320), alone, 0));
        packets.push(alone.slice(0, lengths.at(-1)));
      }
      one.close();
      const many = Array.from({ length: 20 }, () => codec.createEncoder({ rateHz: 8000, channels: 2, ...VOIP_32K }));
      for (let at = 0, k = 0; at < input.length; at += 320, k++) {
        for (const encoder of many) {
          const bytes = encoder.encode(input.subarray(at, at + 320), among, 0);
          expect(Buffer.compare(among.subarray(0, bytes), packets[k]!)).toBe(0);
        }
      }
      for (const encoder of many) encoder.close();
    });

    it('returns -1 for a packet that is none, and goes on', () => {
      const decoder = codec.createDecoder({ rateHz: 8000, channels: 2 });
      const scratch = new Int16Array(5760 * 2);
      expect(decoder.decode(new Uint8Array(0), 0, 0, scratch)).toBe(-1);
      expect(decoder.decode(Uint8Array.of(0xff, 0xff), 0, 2, scratch)).toBe(-1);
      expect(decoder.decode(Uint8Array.of(0x0c), 0, 1, scratch)).toBe(160);
      decoder.close();
    });

    it('refuses a frame of 15 ms, and work after close, which may come twice', () => {
      const encoder = codec.createEncoder({ rateHz: 8000, channels: 1, ...VOIP_32K });
      const packet = new Uint8Array(MAX_OPUS_PACKET_BYTES);
      expect(() => encoder.encode(new Int16Array(120), packet, 0)).toThrow(/none of 2.5/);
      encoder.close();
      encoder.close();
      expect(() => encoder.encode(new Int16Array(160), packet, 0)).toThrow(/after close/);
      const decoder = codec.createDecoder({ rateHz: 8000, channels: 1 });
      decoder.close();
      expect(() => decoder.decode(packet, 0, 1, new Int16Array(5760))).toThrow(/after close/);
    });
  },
);

it('creates and closes 2000 encoders in a heap that stays below 64 MB', () => {
  const codec = loadOpusCodec('opusscript');
  const before = process.memoryUsage().arrayBuffers + process.memoryUsage().external;
  for (let i = 0; i < 2000; i++) codec.createEncoder({ rateHz: 8000, channels: 2, ...VOIP_32K }).close();
  expect(process.memoryUsage().arrayBuffers + process.memoryUsage().external - before).toBeLessThan(64e6);
});
