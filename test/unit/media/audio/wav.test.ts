import { describe, expect, it } from 'vitest';
import { readWavHeader, WAV_HEADER_BYTES, writeWavHeader } from '../../../../media/audio/wav.ts';

describe('WAV header', () => {
  it('is the 44 bytes of a stereo mu-law file at 8 kHz', () => {
    const bytes = Buffer.alloc(46, 0xee);
    writeWavHeader(bytes, { codec: 'mulaw', rateHz: 8000, channels: 2, dataBytes: 160000 }, 1);
    expect(bytes.toString('hex')).toBe(
      `ee${'52494646'}24710200${'57415645'}${'666d7420'}10000000${'0700'}0200401f0000803e000002000800${'64617461'}00710200ee`,
    );
  });

  it.each([
    { codec: 'mulaw' as const, rateHz: 8000, channels: 1, dataBytes: 0 },
    { codec: 'pcm_s16le' as const, rateHz: 16000, channels: 2, dataBytes: 640000 },
    { codec: 'pcm_s16le' as const, rateHz: 48000, channels: 1, dataBytes: 12 },
  ])('reads back $codec $rateHz Hz with $channels channels', (shape) => {
    const bytes = new Uint8Array(WAV_HEADER_BYTES + 10);
    writeWavHeader(bytes, shape);
    expect(readWavHeader(bytes)).toEqual(shape);
  });

  it('reads null from a header that is cut, or that any byte was changed in so that it contradicts itself', () => {
    const bytes = new Uint8Array(WAV_HEADER_BYTES);
    writeWavHeader(bytes, { codec: 'mulaw', rateHz: 8000, channels: 2, dataBytes: 160000 });
    expect(readWavHeader(bytes.subarray(0, 43))).toBeNull();
    for (let at = 0; at < WAV_HEADER_BYTES; at++) {
      const damaged = bytes.slice();
      damaged[at]! ^= 0x10;
      expect(readWavHeader(damaged), `byte ${at}`).toBeNull();
    }
  });
});
