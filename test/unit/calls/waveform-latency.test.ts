import { beforeAll, describe, expect, it } from 'vitest';
import { createRandom } from '../../../bench/harness/seeded-random.ts';
import { SoundMeter, soundMapInSteps, soundMapOf } from '../../../media/audio/sound-meter.ts';
import type { SoundMap, SoundRun, Turn } from '../../../media/contract/conversation.ts';
import { longestSilenceMs, type TurnGap, turnGaps } from '../../../src/calls/turn-gaps.ts';
import {
  type InjectedCall,
  type InjectionOptions,
  injectDelays,
  renderVoices,
  type Voices,
} from './injected-delays.ts';
import { turn } from './sample-turn.ts';

const SEED = 20_261_121;
const TURNS_OF_A_CALL = 10;

describe('delays of 200 to 3,000 ms between a caller and a reply', () => {
  let voices: Voices;
  beforeAll(async () => {
    voices = await renderVoices(createRandom(SEED));
  });

  /** Measured minus injected, ms, sorted. */
  function errorsMs(calls: number, ends: InjectionOptions['ends']): number[] {
    const random = createRandom(SEED);
    const errors: number[] = [];
    for (let made = 0; made < calls; made++) {
      const call = injectDelays(random, voices, { turns: TURNS_OF_A_CALL, ends });
      for (const { turnId, mouthToEarMs } of gapsOf(call)) errors.push(mouthToEarMs - call.delays.get(turnId)!);
    }
    return errors.sort((a, b) => a - b);
  }
  const at = (sorted: readonly number[], ratio: number): number => sorted[Math.ceil(ratio * sorted.length) - 1]!;

  it('come back from the waveform within ±20 ms in 1,000 turns of 1,000', () => {
    const errors = errorsMs(100, 'clear');
    expect(errors).toHaveLength(1_000);
    expect(errors[0]).toBeGreaterThanOrEqual(-20);
    expect(errors.at(-1)).toBeLessThanOrEqual(20);
    expect(Math.abs(at(errors, 0.5))).toBeLessThanOrEqual(3);
    expect(at(errors, 0.95) - at(errors, 0.05)).toBeLessThanOrEqual(15);
  });

  it('where a word dies away into the noise, half within 5 ms, and all within a weak consonant of 130 ms', () => {
    const errors = errorsMs(10, 'natural');
    expect(errors).toHaveLength(100);
    expect(Math.abs(at(errors, 0.5))).toBeLessThanOrEqual(5);
    expect(Math.max(-errors[0]!, errors.at(-1)!)).toBeLessThanOrEqual(130);
  });
});

function gapsOf(call: InjectedCall): TurnGap[] {
  const meter = new SoundMeter(call.rateHz);
  meter.push(call.interleavedSamples, call.interleavedSamples.length / 2);
  return turnGaps(soundMapOf(meter.loudness()), call.turns, new Set(call.delays.keys()));
}

describe('the sound meter', () => {
  const RATE_HZ = 8_000;
  /** `[fromMs, toMs, amplitude]` of a 400 Hz tone on each channel. */
  const tones = (durationMs: number, left: number[][], right: number[][], offset = 0): Int16Array => {
    const samples = new Int16Array((durationMs * RATE_HZ * 2) / 1000).fill(offset);
    for (const [channel, stretches] of [left, right].entries()) {
      for (const [fromMs, toMs, amplitude] of stretches) {
        for (let i = (fromMs! * RATE_HZ) / 1000; i < (toMs! * RATE_HZ) / 1000; i++) {
          samples[2 * i + channel] = offset + amplitude! * Math.sin((2 * Math.PI * 400 * i) / RATE_HZ);
        }
      }
    }
    return samples;
  };
  const mapOf = (samples: Int16Array, pieces = [samples.length / 2]): SoundMap => {
    const meter = new SoundMeter(RATE_HZ);
    let from = 0;
    for (let turn = 0; from < samples.length; turn++) {
      const instants = Math.min(pieces[turn % pieces.length]!, samples.length / 2 - from / 2);
      meter.push(samples.subarray(from), instants);
      from += instants * 2;
    }
    return soundMapOf(meter.loudness());
  };
  const times = (runs: readonly SoundRun[]): number[][] => runs.map(({ startMs, endMs }) => [startMs, endMs]);

  it('finds what begins and ends to 5 ms, on a direct current, whatever the pieces that it is fed', () => {
    const samples = tones(4_000, [[1_000, 1_500, 8_000]], [[2_000, 3_000, 8_000]], 900);
    const map = mapOf(samples);
    expect(map).toEqual(mapOf(samples, [1_600]));
    expect(map).toEqual(mapOf(samples, [1, 7, 333]));
    expect(map.durationMs).toBe(4_000);
    const [caller] = times(map.caller).filter(([startMs]) => startMs! > 100);
    const [agent] = times(map.agent).filter(([startMs]) => startMs! > 100);
    expect(Math.abs(caller![1]! - 1_500)).toBeLessThanOrEqual(5);
    expect(Math.abs(agent![0]! - 2_000)).toBeLessThanOrEqual(5);
  });

  it('hears nothing in silence, in no sound at all, and in a tone that is the line itself', () => {
    expect(mapOf(new Int16Array(16_000))).toEqual({ durationMs: 1_000, callerFloorDbfs: -100, caller: [], agent: [] });
    expect(mapOf(new Int16Array(0)).caller).toEqual([]);
    expect(mapOf(tones(20_000, [[0, 20_000, 300]], [])).caller).toEqual([]);
  });

  it('bridges a stop of 60 ms within a word, and not a pause of 200 ms', () => {
    const map = mapOf(
      tones(
        5_000,
        [
          [1_000, 1_300, 8_000],
          [1_360, 1_500, 8_000],
          [1_700, 2_000, 8_000],
        ],
        [],
      ),
    );
    expect(times(map.caller).map(([startMs]) => Math.round(startMs! / 100))).toEqual([10, 17]);
  });

  it('takes what is 30 dB below the agent and late by 200 ms for its echo, and a voice above it for the caller', () => {
    const agent = [[1_000, 3_000, 10_000]];
    expect(mapOf(tones(5_000, [[1_200, 3_200, 316]], agent)).caller).toEqual([]);
    expect(times(mapOf(tones(5_000, [[1_200, 1_800, 5_000]], agent)).caller)).toHaveLength(1);
  });

  it('of a long call is made in stretches of 10 minutes, with a pause after each; what goes on over a seam is one run', async () => {
    const left = new Float32Array(150_000).fill(1e-7);
    left.fill(0.01, 100, 300);
    left.fill(0.01, 119_900, 120_100);
    let pauses = 0;
    const map = await soundMapInSteps({ left, right: new Float32Array(150_000) }, async () => void pauses++);
    expect(pauses).toBe(2);
    expect(map.durationMs).toBe(750_000);
    expect(times(map.caller).map((run) => run.map((ms) => Math.round(ms / 10) * 10))).toEqual([
      [500, 1_500],
      [599_500, 600_500],
    ]);
    const short = { left: left.subarray(0, 1_000), right: left.subarray(0, 1_000) };
    expect(await soundMapInSteps(short, async () => {})).toEqual(soundMapOf(short));
  });

  it('of four hours of talk keeps at most 5,000 runs a channel', () => {
    const left = new Float32Array((14_400 * 1_000) / 5);
    for (let i = 0; i < left.length; i++) left[i] = i % 60 < 20 ? 0.01 : 1e-7;
    expect(soundMapOf({ left, right: left }).caller.length).toBeLessThanOrEqual(5_000);
  });
});

describe('the gap of a reply', () => {
  const run = (startMs: number, endMs: number, peakDbfs = -15): SoundRun => ({ startMs, endMs, peakDbfs });
  const map = (caller: SoundRun[], agent: SoundRun[]): SoundMap => ({
    durationMs: 20_000,
    callerFloorDbfs: -60,
    caller,
    agent,
  });
  const USER = turn('t2', 'user', 1_000, 3_000);
  const REPLY = turn('t3', 'agent', 4_000, 5_000);
  const gap = (caller: SoundRun[], turns: Turn[] = [USER, REPLY], agent = [run(4_020, 5_000)]): number | undefined =>
    turnGaps(map(caller, agent), turns, new Set(['t3']))[0]?.mouthToEarMs;

  it('begins at the last sound of the turn, not at a pause within it', () => {
    expect(gap([run(1_000, 1_400), run(2_200, 2_980)])).toBe(1_040);
  });

  it('passes over a breath after the turn, and over a murmur', () => {
    expect(gap([run(1_000, 2_980), run(3_100, 3_500, -43)])).toBe(1_040);
    const murmur = turn('t2b', 'user', 3_400, 3_600, 'backchannel');
    expect(gap([run(1_000, 2_980), run(3_400, 3_600)], [USER, murmur, REPLY])).toBe(1_040);
  });

  it('counts a last sound that the voice gate missed by up to 120 ms', () => {
    expect(gap([run(1_000, 2_700), run(3_100, 3_300)])).toBe(720);
  });

  it('has no value where the recording does not say what the pipeline says', () => {
    expect(gap([])).toBeUndefined();
    expect(gap([run(1_000, 3_900)])).toBeUndefined();
    expect(gap([run(1_000, 2_000)])).toBeUndefined();
    expect(gap([run(1_000, 2_980)], [USER, REPLY], [])).toBeUndefined();
    expect(gap([run(1_000, 2_980)], [USER, REPLY], [run(3_000, 5_000)])).toBeUndefined();
    expect(gap([run(1_000, 2_980)], [USER, REPLY], [run(4_800, 5_000)])).toBeUndefined();
  });

  it('has no value where the agent began before the caller had ended, and none for what answers nobody', () => {
    const early = turn('t3', 'agent', 2_900, 5_000);
    expect(gap([run(1_000, 3_100)], [USER, early], [run(2_920, 5_000)])).toBeUndefined();
    expect(turnGaps(map([run(1_000, 2_980)], [run(4_020, 5_000)]), [USER, REPLY], new Set())).toEqual([]);
  });

  it('and the longest silence is between two sounds, of whomever', () => {
    expect(longestSilenceMs(map([run(1_000, 2_000), run(6_000, 7_000)], [run(0, 500), run(1_500, 3_000)]))).toBe(3_000);
    expect(longestSilenceMs(map([], []))).toBe(0);
  });
});
