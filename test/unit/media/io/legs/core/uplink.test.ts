import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRandom } from '../../../../../../bench/harness/seeded-random.ts';
import { MULAW_8K, MULAW_SILENCE } from '../../../../../../media/contract/audio-format.ts';
import { StreamTimeline } from '../../../../../../media/io/legs/core/stream-timeline.ts';
import { Uplink } from '../../../../../../media/io/legs/core/uplink.ts';
import { CallBlock } from '../../../../../../media/rings/call-block.ts';
import type { FrameRing } from '../../../../../../media/rings/frame-ring.ts';
import { createRecordRing, RECEIVED } from '../../../../../../media/rings/record-ring.ts';

interface Got {
  bytes: Buffer;
  seq: number;
  atMs: number;
  generation: number;
}

function drain(ring: FrameRing): Got[] {
  const got: Got[] = [];
  while (ring.peek()) {
    got.push({
      bytes: Buffer.from(ring.bytes.subarray(ring.payloadStart, ring.payloadStart + ring.lengthBytes)),
      seq: ring.frameSeq,
      atMs: ring.atMs,
      generation: ring.generation,
    });
    ring.release();
  }
  return got;
}

function make() {
  const block = CallBlock.create(MULAW_8K);
  const record = createRecordRing(MULAW_8K).ring;
  return { block, record, uplink: new Uplink(MULAW_8K, block.uplink, record) };
}

const audio = (lengthBytes: number, from = 0) =>
  Buffer.from(Array.from({ length: lengthBytes }, (_, i) => (from + i) & 255));

describe('the timeline of received audio', () => {
  test('frames that come in a burst after a stall of 500 ms lie where they were spoken', () => {
    const line = new StreamTimeline();
    const at = [line.place(1_700_000_000_000, 20, 30)];
    for (let i = 1; i <= 25; i++) at.push(line.place(1_700_000_000_000 + i * 20, 20, 540));
    expect(at).toEqual(Array.from({ length: 26 }, (_, i) => 10 + i * 20));
    expect(line.gaps).toBe(0);
  });

  test('300 ms of missing audio stay 300 ms of time', () => {
    const line = new StreamTimeline();
    line.place(0, 20, 20);
    line.place(20, 20, 40);
    expect(line.place(340, 20, 365)).toBe(340);
    expect([line.gaps, line.gapMs]).toEqual([1, 300]);
    expect(line.place(360, 20, 380)).toBe(360);
  });

  test('stamps that scatter by up to 19 ms either way make no gap in 10 minutes', () => {
    const line = new StreamTimeline();
    const random = createRandom(1);
    for (let i = 0; i < 30_000; i++) {
      const scatterMs = Math.floor(random() * 39) - 19;
      line.place(1_000_000 + i * 20 + scatterMs, 20, 20 + i * 20 + 25);
    }
    expect(line.gaps).toBe(0);
    expect(line.endMs).toBe(600_025);
  });

  test('a wild stamp (a jump of an hour, backwards, repeated) moves nothing', () => {
    const line = new StreamTimeline();
    line.place(1000, 20, 20);
    expect(line.place(3_601_000, 20, 40)).toBe(20);
    expect(line.place(3_601_020, 20, 60)).toBe(40);
    expect(line.place(5, 20, 80)).toBe(60);
    expect(line.place(5, 20, 100)).toBe(80);
    expect([line.gaps, line.wildTimestamps]).toEqual([0, 2]);
  });

  test('without stamps only silence of over a second is a gap', () => {
    const line = new StreamTimeline();
    expect(line.place(Number.NaN, 20, 20)).toBe(0);
    expect(line.place(Number.NaN, 20, 900)).toBe(20);
    expect(line.place(Number.NaN, 20, 2000)).toBe(1980);
    expect(line.gapMs).toBe(1940);
  });

  test('a carrier whose clock is 500 ppm slow is followed: under 150 ms off after half an hour', () => {
    const line = new StreamTimeline();
    let arrivedMs = 0;
    for (let i = 0; i < 90_000; i++) {
      arrivedMs = 20 + i * 20 * 1.0005;
      line.place(i * 20, 20, arrivedMs);
    }
    expect(arrivedMs - line.endMs).toBeLessThan(150);
    expect(arrivedMs - line.endMs).toBeGreaterThanOrEqual(0);
  });
});

describe('the uplink', () => {
  test('20 ms chunks go to both rings as they are, numbered from 1', () => {
    const { block, record, uplink } = make();
    for (let i = 0; i < 3; i++) uplink.push(audio(160, i), 0, 160, i * 20, i * 20 + 20);
    const heard = drain(block.uplink);
    expect(heard.map((one) => [one.seq, one.atMs])).toEqual([
      [1, 0],
      [2, 20],
      [3, 40],
    ]);
    expect(heard[2]!.bytes.equals(audio(160, 2))).toBe(true);
    const recorded = drain(record);
    expect(recorded.map((one) => one.atMs)).toEqual([0, 20, 40]);
    expect(recorded.every((one) => one.generation === RECEIVED)).toBe(true);
  });

  test('any cutting of the same audio gives the same frames', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 8 }), (sizes) => {
        const { record, uplink } = make();
        const whole = audio(sizes.reduce((sum, size) => sum + size, 0));
        let at = 0;
        for (const size of sizes) {
          uplink.push(whole, at, size, at / 8, (at + size) / 8);
          at += size;
        }
        uplink.finish();
        const got = drain(record);
        expect(got.length).toBe(Math.ceil(whole.length / 160));
        const joined = Buffer.concat(got.map((one) => one.bytes));
        expect(joined.subarray(0, whole.length).equals(whole)).toBe(true);
        expect(joined.subarray(whole.length).every((byte) => byte === MULAW_SILENCE)).toBe(true);
        expect(got.map((one) => one.atMs)).toEqual(got.map((_, i) => i * 20));
      }),
      { seed: 3, numRuns: 200 },
    );
  });

  test('a frame cut short by a gap is filled with silence and the next begins at its own time', () => {
    const { block, uplink } = make();
    uplink.push(audio(240), 0, 240, 0, 30);
    uplink.push(audio(160), 0, 160, 500, 520);
    const got = drain(block.uplink);
    expect(got.map((one) => one.atMs)).toEqual([0, 20, 500]);
    expect(got[1]!.bytes.subarray(80).every((byte) => byte === MULAW_SILENCE)).toBe(true);
  });

  test('a full ring drops the new frame, counts it, and the recording has it all the same', () => {
    const { block, record, uplink } = make();
    for (let i = 0; i < 25; i++) uplink.push(audio(160), 0, 160, i * 20, i * 20 + 20);
    expect(block.uplink.droppedFrames).toBe(5);
    expect(drain(record).length).toBe(25);
  });
});
