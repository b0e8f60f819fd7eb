import { describe, expect, test } from 'vitest';
import { FrameRing, frameRingBytes, viewsOf } from '../../../../media/rings/frame-ring.ts';

const SLOTS = 4;

function twoSides() {
  const memory = new SharedArrayBuffer(64 + frameRingBytes(SLOTS, 160));
  return {
    memory,
    writer: new FrameRing(viewsOf(memory), 64, SLOTS, 160),
    reader: new FrameRing(viewsOf(memory), 64, SLOTS, 160),
  };
}

function write(ring: FrameRing, seq: number): boolean {
  return ring.tryWrite(new Uint8Array(160).fill(seq), 0, 160, 7, seq, seq * 20);
}

function read(ring: FrameRing): number[] {
  const seqs: number[] = [];
  for (; ring.peek(); ring.release()) {
    expect(ring.bytes[ring.payloadStart + 159]).toBe(ring.frameSeq & 255);
    seqs.push(ring.frameSeq);
  }
  return seqs;
}

describe('a ring between two threads', () => {
  test('1,000 frames pass in order through 4 slots, whichever side is ahead', () => {
    const { writer, reader } = twoSides();
    let next = 1;
    const got: number[] = [];
    for (let round = 0; got.length < 1000; round++) {
      for (let i = 0; i <= round % SLOTS && next <= 1000; i++) if (write(writer, next)) next++;
      got.push(...read(reader));
      expect(reader.hasFrame).toBe(false);
      expect(writer.queuedFrames).toBe(0);
    }
    expect(got).toEqual(Array.from({ length: 1000 }, (_, i) => i + 1));
    expect(writer.droppedFrames).toBe(0);
  });

  test('a full ring refuses and counts, and takes again as soon as the other side has released one', () => {
    const { writer, reader } = twoSides();
    for (let seq = 1; seq <= 4; seq++) expect(write(writer, seq)).toBe(true);
    expect([write(writer, 5), write(writer, 5), reader.droppedFrames]).toEqual([false, false, 2]);
    reader.peek();
    reader.release();
    expect(write(writer, 5)).toBe(true);
    expect(read(reader)).toEqual([2, 3, 4, 5]);
  });

  test('counts that wrap at 2^32 keep their order', () => {
    const { memory } = twoSides();
    const words = new Int32Array(memory, 64);
    words[0] = -2;
    words[16] = -2;
    const writer = new FrameRing(viewsOf(memory), 64, SLOTS, 160);
    const reader = new FrameRing(viewsOf(memory), 64, SLOTS, 160);
    for (let seq = 1; seq <= 4; seq++) expect(write(writer, seq)).toBe(true);
    expect(write(writer, 5)).toBe(false);
    expect(read(reader)).toEqual([1, 2, 3, 4]);
  });

  test('a new reader begins where the last one stopped; a writer that takes over reads what is left', () => {
    const { memory, writer, reader } = twoSides();
    for (let seq = 1; seq <= 4; seq++) write(writer, seq);
    reader.peek();
    reader.release();
    reader.peek();
    reader.release();
    const second = new FrameRing(viewsOf(memory), 64, SLOTS, 160);
    second.peek();
    expect(second.frameSeq).toBe(3);
    writer.takeOver();
    expect(read(writer)).toEqual([3, 4]);
  });
});
