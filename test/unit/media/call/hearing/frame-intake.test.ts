import { describe, expect, test } from 'vitest';
import { encodeMulaw } from '../../../../../media/audio/g711.ts';
import { FrameIntake } from '../../../../../media/call/hearing/frame-intake.ts';
import { type LegFormat, MULAW_8K } from '../../../../../media/contract/audio-format.ts';
import { CallBlock } from '../../../../../media/rings/call-block.ts';
import { FakeVoiceActivity } from '../../../../support/fakes/scripted-engines.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

function uplinkOf(format: LegFormat = MULAW_8K) {
  const clock = new VirtualClock();
  const call = CallBlock.create(format);
  const frames: { atMs: number; first: number; isSpeech: boolean }[] = [];
  const mulaw: (number[] | null)[] = [];
  let stops = 0;
  const uplink = new FrameIntake(call.uplink, format, new FakeVoiceActivity(), null, clock, {
    frame: (atMs, samples, isSpeech, mulawBytes) => {
      frames.push({ atMs, first: samples[0]!, isSpeech });
      mulaw.push(mulawBytes === null ? null : [...mulawBytes]);
    },
    audioStopped: () => {
      stops++;
    },
  });
  let seq = 0;
  const writeBytes = (atMs: number, bytes: Uint8Array): void => {
    call.uplink.tryWrite(bytes, 0, bytes.length, 0, ++seq, atMs);
    uplink.drain();
  };
  return {
    writeBytes,
    clock,
    uplink,
    frames,
    mulaw,
    stops: () => stops,
    /** A frame whose samples all are `level`. */
    write(atMs: number, level: number) {
      const samples = new Int16Array((format.rateHz * 20) / 1000).fill(level);
      const bytes = new Uint8Array(format.codec === 'mulaw' ? samples.length : samples.length * 2);
      if (format.codec === 'mulaw') encodeMulaw(samples, 0, samples.length, bytes, 0);
      else bytes.set(new Uint8Array(samples.buffer));
      writeBytes(atMs, bytes);
    },
  };
}

describe('the uplink', () => {
  test('fills a hole of 60 ms with silence, so that audio time has no gaps', () => {
    const { write, frames } = uplinkOf();
    write(100, 4_000);
    write(180, 4_000);
    expect(frames.map((frame) => frame.atMs)).toEqual([100, 120, 140, 160, 180]);
    expect(frames.map((frame) => frame.isSpeech)).toEqual([true, false, false, false, true]);
  });

  test('time stamps that jitter by 39 ms make no holes', () => {
    const { write, frames } = uplinkOf();
    for (const atMs of [0, 59, 40, 79, 80]) write(atMs, 0);
    expect(frames.map((frame) => frame.atMs)).toEqual([0, 20, 40, 60, 80]);
  });

  test('a hole of over 10 s is jumped, not filled', () => {
    const { write, frames } = uplinkOf();
    write(0, 0);
    write(60_000, 0);
    expect(frames.map((frame) => frame.atMs)).toEqual([0, 60_000]);
  });

  test('a mu-law leg is handed on byte for byte, both codes of zero too, with silence where nothing came', () => {
    const { writeBytes, mulaw } = uplinkOf();
    const bytes = Uint8Array.from({ length: 160 }, (_, i) => (i + 0x60) & 0xff);
    expect([bytes.includes(0x7f), bytes.includes(0xff)]).toEqual([true, true]);
    writeBytes(0, bytes);
    writeBytes(60, bytes.subarray(0, 100));
    const silence = Array<number>(160).fill(0xff);
    expect(mulaw).toEqual([[...bytes], silence, silence, [...bytes.subarray(0, 100), ...silence.slice(100)]]);
  });

  test('linear 16 kHz legs pass as they are, negative samples too', () => {
    const { write, frames } = uplinkOf({ codec: 'pcm_s16le', rateHz: 16000 });
    write(0, -12_345);
    expect(frames[0]).toEqual({ atMs: 0, first: -12_345, isSpeech: true });
  });

  test('replays the last 500 ms, oldest first, but nothing from before a turn that is over', () => {
    const { write, uplink } = uplinkOf({ codec: 'pcm_s16le', rateHz: 16000 });
    const levels = () => {
      const heard: number[] = [];
      uplink.replay((samples) => heard.push(samples[0]!));
      return heard;
    };
    expect(levels()).toEqual([]);
    for (let i = 0; i < 30; i++) write(i * 20, i + 1);
    expect(levels()).toEqual(Array.from({ length: 25 }, (_, i) => i + 6));
    uplink.forgetPreRoll();
    write(600, 77);
    expect(levels()).toEqual([77]);
  });

  test('tells once that audio stopped, 1 s after the last frame, and again only after more audio', () => {
    const { write, uplink, clock, stops } = uplinkOf();
    write(0, 0);
    clock.advanceMs(980);
    uplink.drain();
    expect(stops()).toBe(0);
    clock.advanceMs(20);
    uplink.drain();
    clock.advanceMs(5_000);
    uplink.drain();
    expect(stops()).toBe(1);
    write(6_000, 0);
    clock.advanceMs(1_000);
    uplink.drain();
    expect(stops()).toBe(2);
  });
});
