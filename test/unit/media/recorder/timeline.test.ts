import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LegFormat, MULAW_8K, MULAW_SILENCE } from '../../../../media/contract/audio-format.ts';
import { Timeline } from '../../../../media/recorder/timeline.ts';
import { PLAYED, RECEIVED } from '../../../../media/rings/record-ring.ts';

const FAR = 1e9;
/** A byte that nobody sends: what was never handed on. */
const HOLE = 0x77;

function collect(format: LegFormat = MULAW_8K, firstSample = 0) {
  const parts: { firstSample: number; bytes: Buffer }[] = [];
  const bytesASample = format.codec === 'mulaw' ? 2 : 4;
  const timeline = new Timeline(
    format,
    (bytes, start, length, at) =>
      parts.push({ firstSample: at, bytes: Buffer.from(bytes.subarray(start, start + length)) }),
    firstSample,
  );
  /** What was handed on so far, each part at its place, a later one over an earlier one. */
  const sound = (): Buffer => {
    const ends = parts.map((part) => (part.firstSample - firstSample) * bytesASample + part.bytes.length);
    const all = Buffer.alloc(Math.max(0, ...ends), HOLE);
    for (const part of parts) part.bytes.copy(all, (part.firstSample - firstSample) * bytesASample);
    return all;
  };
  return {
    timeline,
    parts,
    sound,
    frame: (direction: number, atMs: number, byte: number, samples = 160, notAfterMs = FAR) =>
      timeline.place(direction, new Uint8Array(samples).fill(byte), 0, samples, atMs, notAfterMs),
    /** The channels of it, one byte a sample. */
    channels: () => {
      const all = sound();
      return [0, 1].map((channel) => Uint8Array.from({ length: all.length / 2 }, (_, i) => all[2 * i + channel]!));
    },
  };
}

/** Runs of equal bytes: [byte, samples]. */
function runsOf(channel: Uint8Array): [number, number][] {
  const runs: [number, number][] = [];
  for (const byte of channel) {
    const last = runs.at(-1);
    if (last !== undefined && last[0] === byte) last[1]++;
    else runs.push([byte, 1]);
  }
  return runs;
}

describe('time line', () => {
  it('puts received frames left and played frames right, at their own times, and silence elsewhere', () => {
    const { timeline, frame, channels } = collect();
    frame(RECEIVED, 0, 1);
    frame(PLAYED, 100, 2);
    frame(RECEIVED, 20, 3);
    expect(timeline.finish(200)).toBe(1600);
    const [left, right] = channels();
    expect(runsOf(left!)).toEqual([
      [1, 160],
      [3, 160],
      [MULAW_SILENCE, 1280],
    ]);
    expect(runsOf(right!)).toEqual([
      [MULAW_SILENCE, 800],
      [2, 160],
      [MULAW_SILENCE, 640],
    ]);
  });

  it.each([[39], [-39], [1], [-20]])('joins a frame that is %i ms from its place to the one before it', (offMs) => {
    const { timeline, frame, channels } = collect();
    frame(RECEIVED, 100, 1);
    frame(RECEIVED, 120 + offMs, 2);
    frame(RECEIVED, 140, 3);
    timeline.finish(200);
    expect(runsOf(channels()[0]!)).toEqual([
      [MULAW_SILENCE, 800],
      [1, 160],
      [2, 160],
      [3, 160],
      [MULAW_SILENCE, 320],
    ]);
    expect(timeline.counters.gaps).toBe(0);
  });

  it('keeps a gap of 40 ms as 320 samples of silence and counts it', () => {
    const { timeline, frame, channels } = collect();
    frame(RECEIVED, 0, 1);
    frame(RECEIVED, 60, 2);
    timeline.finish(80);
    expect(runsOf(channels()[0]!)).toEqual([
      [1, 160],
      [MULAW_SILENCE, 320],
      [2, 160],
    ]);
    expect(timeline.counters.gaps).toBe(1);
  });

  it('puts a frame that steps back by 40 ms over what stood there, and leaves the other channel alone', () => {
    const { timeline, frame, channels } = collect();
    for (const atMs of [0, 20, 40, 60]) {
      frame(RECEIVED, atMs, 10 + atMs);
      frame(PLAYED, atMs, 100 + atMs);
    }
    frame(PLAYED, 40, 1);
    timeline.finish(80);
    const [left, right] = channels();
    expect(runsOf(left!)).toEqual([
      [10, 160],
      [30, 160],
      [50, 160],
      [70, 160],
    ]);
    expect(runsOf(right!)).toEqual([
      [100, 160],
      [120, 160],
      [1, 160],
      [160, 160],
    ]);
  });

  it('never drifts by 40 ms: a sender whose clock runs 1 % fast is set right again and again', () => {
    const { timeline, frame, channels } = collect();
    for (let i = 0; i < 1000; i++) frame(RECEIVED, Math.round(i * 20.2), i % 2 === 0 ? 1 : 2);
    timeline.finish(20_220);
    const left = channels()[0]!;
    const lastFrameAt = left.length - [...left].reverse().findIndex((byte) => byte !== MULAW_SILENCE) - 160;
    expect(Math.abs(lastFrameAt - 20_180 * 8)).toBeLessThan(320);
  });

  it('hands on a block of 400 ms once both directions have passed it, or one of them 200 ms ago', () => {
    const { timeline, frame, parts } = collect();
    frame(PLAYED, 540, 1);
    frame(RECEIVED, 360, 1);
    timeline.settle(0);
    expect(parts.length).toBe(0);
    frame(RECEIVED, 380, 1);
    timeline.settle(0);
    expect(parts.map(({ firstSample, bytes }) => [firstSample, bytes.length])).toEqual([[0, 6400]]);
    frame(PLAYED, 960, 1);
    timeline.settle(0);
    expect(parts.length).toBe(1);
    frame(PLAYED, 980, 1);
    timeline.settle(0);
    expect(parts.at(-1)!.firstSample).toBe(3200);
  });

  it('has handed on all but the last 600 ms of whatever came, whichever direction speaks', () => {
    for (const directions of [[RECEIVED], [PLAYED], [RECEIVED, PLAYED]]) {
      const { timeline, frame, sound } = collect();
      for (let atMs = 0; atMs < 9000; atMs += 20) {
        for (const direction of directions) frame(direction, atMs, 1);
        timeline.settle(0);
        expect(sound().length / 16).toBeGreaterThan(atMs - 600);
      }
    }
  });

  it('hands on again what was changed by a frame that came late, and all behind it, but not for every such frame', () => {
    const { timeline, frame, parts, channels } = collect();
    for (let atMs = 0; atMs < 3000; atMs += 20) {
      frame(PLAYED, atMs, 1);
      // A line that lags by half a second, for ever.
      if (atMs >= 500) frame(RECEIVED, atMs - 500, 2);
      timeline.settle(0);
    }
    const stepsBack = parts.filter(({ firstSample }, at) => at > 0 && firstSample <= parts[at - 1]!.firstSample);
    expect(stepsBack.length).toBeGreaterThan(2);
    expect(stepsBack.length).toBeLessThan(12);
    const soundUntil = channels()[0]!.lastIndexOf(2);
    // What came is handed on within 600 ms.
    expect(soundUntil / 8).toBeGreaterThan(2980 - 500 - 700);
    timeline.finish(3000);
    expect(runsOf(channels()[0]!)).toEqual([
      [2, 20_000],
      [MULAW_SILENCE, 4000],
    ]);
  });

  it('hands on silence up to the time that it is told, when nothing comes', () => {
    const { timeline, parts } = collect();
    timeline.settle(1199);
    expect(parts.map(({ bytes }) => bytes.length)).toEqual([6400, 6400]);
  });

  it('takes a frame of one channel that comes 3.9 s after later ones of the other', () => {
    const { timeline, frame, channels } = collect();
    for (let atMs = 0; atMs < 3900; atMs += 20) frame(PLAYED, atMs, 1);
    frame(RECEIVED, 0, 2);
    timeline.settle(0);
    timeline.finish(3900);
    expect(runsOf(channels()[0]!)[0]).toEqual([2, 160]);
    expect(timeline.counters.lateFrames).toBe(0);
  });

  it('counts a frame whose place is final as late, and keeps the part of one that still fits', () => {
    const { timeline, frame, channels } = collect();
    timeline.settle(1200);
    frame(RECEIVED, 500, 1);
    frame(RECEIVED, 1190, 2);
    timeline.finish(2000);
    expect(timeline.counters).toMatchObject({ lateFrames: 1, placedFrames: 1 });
    expect(runsOf(channels()[0]!)).toEqual([
      [MULAW_SILENCE, 9600],
      [2, 80],
      [MULAW_SILENCE, 6320],
    ]);
  });

  it('refuses a frame beyond the time allowed and a direction that is none, and writes no silence for them', () => {
    const { timeline, frame, parts } = collect();
    frame(RECEIVED, 2_000_000_000, 1, 160, 30_000);
    frame(7, 0, 1);
    expect(timeline.counters).toMatchObject({ implausibleFrames: 2, placedFrames: 0 });
    expect(parts.length).toBe(0);
    expect(timeline.newestMs).toBe(0);
  });

  it('cuts what sticks out by 99 ms at the end, keeps what sticks out by 100 ms, and pads to the end', () => {
    for (const [endMs, wantMs] of [
      [1099, 1000],
      [1100, 1100],
      [400, 1000],
    ] as const) {
      const { timeline, frame, channels } = collect();
      frame(RECEIVED, endMs - 20, 1);
      expect(timeline.finish(1000)).toBe(wantMs * 8);
      expect(channels()[1]!.length).toBe(wantMs * 8);
    }
  });

  it('shows a sound once, though the window moved on under it: 100 ms at 5 s, nothing at 6 s', () => {
    const { timeline, frame, channels } = collect();
    for (let atMs = 5000; atMs < 5100; atMs += 20) frame(RECEIVED, atMs, 1);
    timeline.settle(0);
    timeline.finish(7000);
    expect(runsOf(channels()[0]!)).toEqual([
      [MULAW_SILENCE, 40_000],
      [1, 800],
      [MULAW_SILENCE, 15_200],
    ]);
  });

  it('goes on where a forerunner stopped', () => {
    const { timeline, frame, channels } = collect(MULAW_8K, 80_000);
    expect(timeline.newestMs).toBe(10_000);
    frame(RECEIVED, 10_020, 1);
    expect(timeline.finish(10_060)).toBe(80_480);
    expect(runsOf(channels()[0]!)).toEqual([
      [MULAW_SILENCE, 160],
      [1, 160],
      [MULAW_SILENCE, 160],
    ]);
  });

  it('interleaves 16-bit samples of a 16 kHz leg whole, with zero for silence', () => {
    const { timeline, sound } = collect({ codec: 'pcm_s16le', rateHz: 16000 });
    timeline.place(PLAYED, Uint8Array.of(9, 9, 0x34, 0x12, 0x78, 0x56), 2, 4, 0, FAR);
    timeline.finish(1);
    expect(sound().toString('hex', 0, 12)).toBe('000034120000785600000000');
    expect(sound().length).toBe(16 * 4);
  });

  it('holds the same sound as a model that keeps everything, for any order of frames within 2 s', () => {
    const step = fc.record({
      direction: fc.constantFrom(RECEIVED, PLAYED),
      moveMs: fc.oneof(fc.constant(0), fc.integer({ min: -39, max: 39 }), fc.integer({ min: -300, max: 1500 })),
      samples: fc.integer({ min: 1, max: 160 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const { timeline, frame, channels } = collect();
        const model = [new Map<number, number>(), new Map<number, number>()];
        const nextMs = [0, 0];
        const next = [-1, -1];
        let newest = 0;
        steps.forEach(({ direction, moveMs, samples }, k) => {
          // Neither direction lags behind the other by more than what the window settles at.
          const atMs = Math.max(0, Math.max(nextMs[direction]!, Math.max(...nextMs) - 2000) + moveMs);
          nextMs[direction] = atMs + 20;
          frame(direction, atMs, k % 250, samples);
          timeline.settle(0);
          let at = atMs * 8;
          if (next[direction]! >= 0 && Math.abs(at - next[direction]!) < 320) at = next[direction]!;
          for (let i = 0; i < samples; i++) model[direction]!.set(at + i, k % 250);
          next[direction] = at + samples;
          newest = Math.max(newest, at + samples);
        });
        expect(timeline.finish(0)).toBe(newest >= 800 ? newest : 0);
        if (newest < 800) return;
        for (const direction of [RECEIVED, PLAYED]) {
          const got = channels()[direction]!;
          for (let i = 0; i < newest; i++) {
            if (got[i] !== (model[direction]!.get(i) ?? MULAW_SILENCE)) throw new Error(`sample ${i} of ${direction}`);
          }
        }
        expect(timeline.counters.lateFrames).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});
