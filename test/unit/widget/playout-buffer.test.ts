import { describe, expect, it } from 'vitest';
import { PlayoutBuffer } from '../../../widget/worklets/playout-buffer.ts';

const RATE_HZ = 48_000;
const PER_MS = RATE_HZ / 1000;
const BLOCK = 128;

function createRig() {
  const events: string[] = [];
  const buffer = new PlayoutBuffer(RATE_HZ, {
    started: (utterance) => events.push(`started ${utterance}`),
    done: (utterance, playedMs) => events.push(`done ${utterance} ${Math.round(playedMs)}`),
    flushed: (utterance, playedMs, droppedMs) =>
      events.push(`flushed ${utterance} ${Math.round(playedMs)} ${Math.round(droppedMs)}`),
    underrun: (utterance, targetMs) => events.push(`underrun ${utterance} ${targetMs}`),
  });
  const heard: number[] = [];
  const target = new Float32Array(BLOCK);
  return {
    buffer,
    events,
    heard,
    write: (utterance: number, ms: number) => buffer.write(utterance, new Float32Array(ms * PER_MS).fill(1)),
    play(ms: number) {
      for (let left = ms * PER_MS; left > 0; left -= BLOCK) {
        buffer.render(target);
        heard.push(...target);
      }
    },
  };
}

/** The largest step between two samples: a click is a step of 1. */
const steepest = (samples: number[]): number =>
  samples.reduce((most, one, index) => Math.max(most, Math.abs(one - (samples[index - 1] ?? one))), 0);

describe('the jitter buffer', () => {
  it('waits for 60 ms of an utterance, and not when all of a short one is there', () => {
    const rig = createRig();
    rig.write(1, 40);
    rig.play(20);
    expect(rig.events).toEqual([]);
    rig.write(1, 20);
    rig.play(3);
    expect(rig.events).toEqual(['started 1']);
    const short = createRig();
    short.write(1, 20);
    short.buffer.end(1);
    short.play(30);
    expect(short.events).toEqual(['started 1', 'done 1 20']);
  });

  it('plays every sample of utterances that follow one another, once', () => {
    const rig = createRig();
    rig.write(1, 100);
    rig.buffer.end(1);
    rig.write(2, 100);
    rig.buffer.end(2);
    rig.play(250);
    expect(rig.events).toEqual(['started 1', 'done 1 100', 'started 2', 'done 2 100']);
    expect(rig.heard.filter((one) => one > 0).length).toBeGreaterThan(199 * PER_MS);
    expect(rig.heard.filter((one) => one > 0).length).toBeLessThanOrEqual(200 * PER_MS);
  });

  it('is silent within 10 ms of a flush, without a click, and says how much was heard', () => {
    const rig = createRig();
    rig.write(1, 400);
    rig.play(100);
    rig.heard.length = 0;
    rig.buffer.flush();
    rig.play(40);
    const silentAfterMs = rig.heard.findLastIndex((one) => one > 0) / PER_MS;
    expect(silentAfterMs).toBeLessThanOrEqual(10);
    expect(steepest([1, ...rig.heard])).toBeLessThan(0.01);
    expect(rig.events.at(-1)).toMatch(/^flushed 1 11[0-3] 2[89]\d$/);
    rig.write(2, 100);
    rig.play(10);
    expect(rig.events.at(-1)).toBe('started 2');
  });

  it('answers a flush of nothing', () => {
    const rig = createRig();
    rig.buffer.flush();
    expect(rig.events).toEqual(['flushed 0 0 0']);
  });

  it('fades over 5 ms into a gap and out of it, and waits 40 ms longer after each, up to 250', () => {
    const rig = createRig();
    for (let round = 0; round < 8; round++) {
      rig.write(1, 260);
      rig.play(400);
    }
    expect(rig.events.filter((one) => one.startsWith('underrun')).map((one) => Number(one.split(' ')[2]))).toEqual([
      100, 140, 180, 220, 250, 250, 250, 250,
    ]);
    expect(steepest(rig.heard)).toBeLessThan(0.02);
    expect(rig.heard.filter((one) => one > 0).length).toBeGreaterThan(8 * 250 * PER_MS);
  });

  it('trusts the line again: 10 ms less after each 5 s without a gap, down to 60', () => {
    const rig = createRig();
    rig.write(1, 100);
    rig.play(200);
    expect(rig.buffer.targetMs).toBe(100);
    for (let second = 0; second < 12; second++) {
      rig.write(1, 1_000);
      rig.play(900);
    }
    expect(rig.buffer.targetMs).toBe(80);
  });

  it('catches up 3 % faster after a stall, and not beyond its capacity', () => {
    const rig = createRig();
    rig.write(1, 1_000);
    rig.play(400);
    // 400 ms of time, at 1.03 while more than 420 ms wait.
    expect(rig.buffer.current.playedMs).toBeGreaterThan(405);
    expect(rig.buffer.current.playedMs).toBeLessThan(413);
    for (let i = 0; i < 20; i++) rig.write(1, 1_000);
    rig.buffer.end(1);
    rig.play(9_000);
    expect(rig.events.at(-1)).toMatch(/^done 1 8[34]\d\d$/);
  });
});
