import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Playout } from '../../../../bench/emulators/playout.ts';

const CAPACITY_BYTES = 320_000;
const frame = new Uint8Array(160);

describe('the far end of a stream', () => {
  it('plays 500 bytes as three frames of 160 and one of 20', () => {
    const playout = new Playout(CAPACITY_BYTES);
    playout.push(new Uint8Array(500));
    expect([
      playout.pull(frame),
      playout.pull(frame),
      playout.pull(frame),
      playout.pull(frame),
      playout.pull(frame),
    ]).toEqual([160, 160, 160, 20, 0]);
  });

  it('answers a checkpoint only when the last byte before it was played', () => {
    const playout = new Playout(CAPACITY_BYTES);
    playout.push(new Uint8Array(320));
    playout.checkpoint('a');
    playout.push(new Uint8Array(160));
    playout.checkpoint('b');
    playout.pull(frame);
    expect(playout.takePlayed()).toBeNull();
    playout.pull(frame);
    expect(playout.takePlayed()).toBe('a');
    expect(playout.takePlayed()).toBeNull();
    playout.pull(frame);
    expect(playout.takePlayed()).toBe('b');
  });

  it('answers a checkpoint at once when nothing is queued', () => {
    const playout = new Playout(CAPACITY_BYTES);
    playout.checkpoint('now');
    expect(playout.takePlayed()).toBe('now');
  });

  it('drops queued audio and its checkpoints at a clear, and plays what comes after it', () => {
    const playout = new Playout(CAPACITY_BYTES);
    playout.push(new Uint8Array(480).fill(1));
    playout.checkpoint('dropped');
    playout.pull(frame);
    expect(playout.clear()).toEqual({ droppedBytes: 320, droppedCheckpoints: 1 });
    expect(playout.pull(frame)).toBe(0);
    playout.push(new Uint8Array(160).fill(2));
    playout.checkpoint('kept');
    expect(playout.pull(frame)).toBe(160);
    expect(frame[0]).toBe(2);
    expect(playout.takePlayed()).toBe('kept');
    expect(playout.takePlayed()).toBeNull();
  });

  it('takes 40 s of audio and refuses the byte after it', () => {
    const playout = new Playout(CAPACITY_BYTES);
    expect(playout.push(new Uint8Array(CAPACITY_BYTES))).toBe(true);
    expect(playout.push(new Uint8Array(1))).toBe(false);
    playout.pull(frame);
    expect(playout.push(new Uint8Array(160))).toBe(true);
  });

  it('plays every byte once, in order, and every checkpoint in its place, over 300 random schedules', () => {
    const action = fc.oneof(
      fc.record({ do: fc.constant('push' as const), bytes: fc.integer({ min: 0, max: 700 }) }),
      fc.record({ do: fc.constant('mark' as const) }),
      fc.record({ do: fc.constant('pull' as const) }),
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const playout = new Playout(CAPACITY_BYTES);
        const marks = new Map<string, number>();
        let pushed = 0;
        let played = 0;
        for (const [i, step] of actions.entries()) {
          if (step.do === 'push') {
            const audio = Uint8Array.from({ length: step.bytes }, (_, at) => (pushed + at) % 251);
            playout.push(audio);
            pushed += step.bytes;
          } else if (step.do === 'mark') {
            playout.checkpoint(`m${i}`);
            marks.set(`m${i}`, pushed);
          } else {
            const bytes = playout.pull(frame);
            for (let at = 0; at < bytes; at++) expect(frame[at]).toBe((played + at) % 251);
            played += bytes;
          }
          for (let name = playout.takePlayed(); name !== null; name = playout.takePlayed()) {
            expect(marks.get(name)!).toBeLessThanOrEqual(played);
            marks.delete(name);
          }
        }
        for (const at of marks.values()) expect(at).toBeGreaterThan(played);
        expect(playout.queuedBytes).toBe(pushed - played);
      }),
      { numRuns: 300, seed: 5 },
    );
  });
});
