import { describe, expect, it } from 'vitest';
import { createResampler } from '../../../widget/worklets/resampler.ts';

/** `seconds` of a sine through the resampler in blocks, as a worklet would push them. */
function through(fromHz: number, toHz: number, toneHz: number, block: number): Float32Array {
  const resampler = createResampler(fromHz, toHz, block);
  const out: number[] = [];
  const input = new Float32Array(block);
  for (let at = 0; at < fromHz; at += block) {
    for (let i = 0; i < block; i++) input[i] = Math.sin((2 * Math.PI * toneHz * (at + i)) / fromHz);
    out.push(...resampler.push(input));
  }
  return Float32Array.from(out);
}

/** Amplitude at `toneHz`, away from the edges. */
function amplitude(samples: Float32Array, rateHz: number, toneHz: number): number {
  let real = 0;
  let imaginary = 0;
  const from = Math.round(rateHz * 0.1);
  const count = Math.round(rateHz * 0.5);
  for (let i = from; i < from + count; i++) {
    real += samples[i]! * Math.cos((2 * Math.PI * toneHz * i) / rateHz);
    imaginary += samples[i]! * Math.sin((2 * Math.PI * toneHz * i) / rateHz);
  }
  return (2 * Math.hypot(real, imaginary)) / count;
}

describe.each([
  [48_000, 16_000, 128],
  [44_100, 16_000, 128],
  [44_100, 48_000, 128],
  [24_000, 48_000, 480],
  [16_000, 44_100, 320],
])('from %i to %i Hz in blocks of %i', (fromHz, toHz, block) => {
  it('keeps a second a second long, and a voice at its level within 0.2 dB', () => {
    for (const toneHz of [200, 1_000, 3_400]) {
      const out = through(fromHz, toHz, toneHz, block);
      expect(Math.abs(out.length - toHz)).toBeLessThan(toHz * 0.012);
      expect(20 * Math.log10(amplitude(out, toHz, toneHz))).toBeCloseTo(0, 0.5);
    }
  });
});

describe('down to 16 kHz', () => {
  it('leaves at most -40 dB of what lies above the new band', () => {
    const out = through(48_000, 16_000, 11_000, 128);
    expect(20 * Math.log10(amplitude(out, 16_000, 5_000))).toBeLessThan(-40);
  });
});

describe('at the same rate', () => {
  it('gives back what it was given', () => {
    const samples = Float32Array.of(0.1, -0.2);
    expect(createResampler(48_000, 48_000, 128).push(samples)).toBe(samples);
  });
});
