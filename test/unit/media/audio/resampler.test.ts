import { describe, expect, it } from 'vitest';
import { createResampler } from '../../../../media/audio/resampler.ts';

function sine(rateHz: number, toneHz: number, samples: number, peak: number): Int16Array {
  return Int16Array.from({ length: samples }, (_, i) =>
    Math.round(peak * Math.sin((2 * Math.PI * toneHz * i) / rateHz)),
  );
}

/** Signal to rest, dB: the best fit of a sine of `toneHz` against what is left. */
function signalToRestDb(samples: Int16Array, rateHz: number, toneHz: number): number {
  let inPhase = 0;
  let quadrature = 0;
  let total = 0;
  for (let i = 0; i < samples.length; i++) {
    const angle = (2 * Math.PI * toneHz * i) / rateHz;
    inPhase += samples[i]! * Math.sin(angle);
    quadrature += samples[i]! * Math.cos(angle);
    total += samples[i]! ** 2;
  }
  const signal = (2 * (inPhase ** 2 + quadrature ** 2)) / samples.length;
  return 10 * Math.log10(signal / Math.max(total - signal, 1e-9));
}

async function resampleByFrames(fromHz: number, toHz: number, input: Int16Array, frameSamples: number) {
  const resampler = await createResampler(fromHz, toHz);
  const lengths: number[] = [];
  const out: number[] = [];
  for (let at = 0; at < input.length; at += frameSamples) {
    const part = resampler.process(input.subarray(at, at + frameSamples));
    lengths.push(part.length);
    out.push(...part);
  }
  const rest = [...resampler.flush()];
  resampler.close();
  return { out: Int16Array.from(out), lengths, rest };
}

describe('resampler', () => {
  it.each([
    [8000, 16000],
    [16000, 8000],
    [48000, 16000],
    [16000, 48000],
    [8000, 48000],
    [24000, 8000],
  ])('keeps a 1 kHz tone %i → %i Hz at 70 dB or better, in equal 20 ms frames', async (fromHz, toHz) => {
    const frame = fromHz / 50;
    const { out, lengths } = await resampleByFrames(fromHz, toHz, sine(fromHz, 1000, frame * 50, 16000), frame);
    expect(new Set(lengths)).toEqual(new Set([toHz / 50]));
    expect(signalToRestDb(out.subarray(toHz / 10, toHz / 10 + Math.round(toHz * 0.8)), toHz, 1000)).toBeGreaterThan(70);
  });

  it('suppresses a 6 kHz tone by 60 dB or more when going 16 → 8 kHz', async () => {
    const { out } = await resampleByFrames(16000, 8000, sine(16000, 6000, 16000, 16000), 320);
    const middle = out.subarray(1000, 7000);
    expect(Math.max(...middle.map(Math.abs))).toBeLessThanOrEqual(16);
  });

  it('gives the same samples for one long call as for 20 ms calls', async () => {
    const input = sine(22050, 440, 22050, 12000);
    const byFrames = await resampleByFrames(22050, 8000, input, 441);
    const atOnce = await resampleByFrames(22050, 8000, input, input.length);
    expect([...atOnce.out, ...atOnce.rest]).toEqual([...byFrames.out, ...byFrames.rest]);
    expect(byFrames.out.length).toBe(8000);
  });

  it('gives the last samples by flush: an impulse in the last input sample still comes out, and then it is as new', async () => {
    const resampler = await createResampler(8000, 16000);
    const input = new Int16Array(160);
    input[159] = 20000;
    const during = Math.max(...resampler.process(input).map(Math.abs));
    const after = Math.max(...resampler.flush().map(Math.abs));
    expect(during).toBeLessThan(2000);
    expect(after).toBeGreaterThan(15000);
    expect(Math.max(...resampler.process(new Int16Array(160)).map(Math.abs))).toBe(0);
    resampler.close();
  });

  it('keeps two streams apart on one heap, and refuses work after close, which may come twice', async () => {
    const [loud, quiet] = [await createResampler(8000, 16000), await createResampler(8000, 16000)];
    loud.process(sine(8000, 500, 160, 30000));
    expect(Math.max(...quiet.process(new Int16Array(160)).map(Math.abs))).toBe(0);
    loud.close();
    loud.close();
    expect(() => loud.process(new Int16Array(160))).toThrow(/after close/);
    quiet.close();
  });

  it('gives the same view again for equal lengths, so that a steady stream allocates nothing', async () => {
    const resampler = await createResampler(8000, 16000);
    const frame = new Int16Array(160);
    const first = resampler.process(frame);
    expect(resampler.process(frame)).toBe(first);
    resampler.close();
  });

  it('refuses rates of 0, below 0 and with fractions', async () => {
    for (const bad of [0, -8000, 8000.5, Number.NaN]) {
      await expect(createResampler(bad, 8000)).rejects.toThrow(/whole numbers above 0/);
      await expect(createResampler(8000, bad)).rejects.toThrow(/whole numbers above 0/);
    }
  });
});
