import { describe, expect, test } from 'vitest';
import { createRandom } from '../../../../bench/harness/seeded-random.ts';
import { CallRecording } from '../../../../bench/load/far-end/call-recording.ts';
import { createLine } from '../../../../bench/load/far-end/line-impairments.ts';
import { SILENT_FRAME } from '../../../../bench/load/far-end/said-sound.ts';
import { readWavHeader, WAV_HEADER_BYTES } from '../../../../media/audio/wav.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { silence, tone } from './emulated-target.ts';

/** When each of `frames` came, by its time in the stream. */
function sent(network: Parameters<typeof createLine>[0], frames: number): [number, number][] {
  const clock = new VirtualClock();
  const arrivals: [number, number][] = [];
  const line = createLine(network, clock, createRandom(9), (_frame, streamMs) =>
    arrivals.push([streamMs, clock.nowMs()]),
  );
  for (let index = 0; index < frames; index++) {
    line(SILENT_FRAME, index * 20);
    clock.advanceMs(20);
  }
  clock.advanceMs(10_000);
  return arrivals;
}

describe('a line', () => {
  test('that is perfect passes each frame on at once', () => {
    expect(sent({ delayMs: 0, jitterMs: 0, lossShare: 0 }, 3)).toEqual([
      [0, 0],
      [20, 20],
      [40, 40],
    ]);
  });

  test('delays by so much, with jitter up to so much more, and keeps order', () => {
    const arrivals = sent({ delayMs: 150, jitterMs: 60, lossShare: 0 }, 2_000);
    expect(arrivals.map(([streamMs]) => streamMs)).toEqual(Array.from({ length: 2_000 }, (_, i) => i * 20));
    const lates = arrivals.map(([streamMs, atMs]) => atMs - streamMs);
    expect(Math.min(...lates)).toBeGreaterThanOrEqual(150);
    expect(Math.min(...lates)).toBeLessThan(155);
    expect(Math.max(...lates)).toBeLessThanOrEqual(210);
    expect(Math.max(...lates)).toBeGreaterThan(205);
  });

  test('loses its share, and time passes all the same', () => {
    const arrivals = sent({ delayMs: 0, jitterMs: 0, lossShare: 0.05 }, 10_000);
    expect(arrivals.length).toBeGreaterThan(9_400);
    expect(arrivals.length).toBeLessThan(9_600);
    for (const [streamMs, atMs] of arrivals) expect(atMs).toBe(streamMs);
  });
});

describe('the sound of a call', () => {
  test('is said left and heard right, where it was, and what was cleared is not there', () => {
    const recording = new CallRecording(1_000);
    recording.said(1_020, tone(20));
    recording.heard(1_100, tone(400));
    recording.cleared(1_300);
    recording.said(1_520, silence(20));
    const wav = recording.toWav(1_500);
    expect(readWavHeader(wav)).toEqual({ codec: 'mulaw', rateHz: 8_000, channels: 2, dataBytes: 8_000 });
    const heardIn = (channel: 0 | 1, fromMs: number, toMs: number): boolean => {
      for (let i = fromMs * 8; i < toMs * 8; i++) if (wav[WAV_HEADER_BYTES + i * 2 + channel] !== 0xff) return true;
      return false;
    };
    expect([heardIn(0, 0, 20), heardIn(0, 20, 500)]).toEqual([true, false]);
    expect([heardIn(1, 0, 100), heardIn(1, 100, 300), heardIn(1, 300, 500)]).toEqual([false, true, false]);
  });

  test('is bounded, however far ahead a target sends and however long a call is', () => {
    const recording = new CallRecording(0);
    for (let atMs = 0; atMs < 600_000; atMs += 1_000) recording.heard(atMs, tone(1_000));
    recording.heard(1e9, tone(20));
    recording.said(-500, tone(20));
    expect(recording.toWav(600_000).length).toBe(WAV_HEADER_BYTES + 180_000 * 16);
    expect(recording.bytes).toBeLessThanOrEqual(2 * 180_000 * 16);
  });
});
