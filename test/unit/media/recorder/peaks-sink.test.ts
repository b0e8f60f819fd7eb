import { describe, expect, it } from 'vitest';
import { peaksSink, type SoundPeaks } from '../../../../media/recorder/peaks-sink.ts';

function peaksOf(totalSamples: number, pieces: Int16Array[], rateHz = 8000): SoundPeaks {
  let text = '';
  const add = (bytes: Uint8Array): void => {
    text = Buffer.from(bytes).toString();
  };
  const sink = peaksSink({ add }, rateHz, totalSamples);
  for (const piece of pieces) sink.add(piece);
  sink.finish();
  return JSON.parse(text) as SoundPeaks;
}

describe('the peaks of a recording', () => {
  it('are the loudest of each 20 ms, the caller left and the agent right, however the samples come', () => {
    const sound = new Int16Array(2 * 400);
    sound[2 * 10] = -16_384;
    sound[2 * 170 + 1] = 32_767;
    sound[2 * 399] = -32_768;
    const expected = { durationSeconds: 0.05, binMs: 20, caller: [128, 0, 255], agent: [0, 255, 0] };
    expect(peaksOf(400, [sound])).toEqual(expected);
    expect(peaksOf(400, [sound.subarray(0, 2), sound.subarray(2, 342), sound.subarray(342)])).toEqual(expected);
  });

  it('are at most 6,000, in wider stretches of a longer call, and silence where sound is missing', () => {
    const hour = peaksOf(3600 * 8000, [new Int16Array(2 * 8000).fill(16_384)]);
    expect([hour.binMs, hour.caller.length, hour.caller[0], hour.caller.at(-1)]).toEqual([600, 6000, 128, 0]);
    expect(peaksOf(0, [])).toEqual({ durationSeconds: 0, binMs: 20, caller: [], agent: [] });
    // More than was promised is cut.
    expect(peaksOf(1, [new Int16Array(1000).fill(9)]).caller).toHaveLength(1);
  });
});
