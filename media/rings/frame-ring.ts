/**
 * A ring of audio frames between two threads: one writer, one reader, shared memory, no locks, no allocation per frame.
 *
 *   Int32 head │ Int32 dropped │ pad to 64 │ Int32 tail │ pad to 80 │ slot 0 │ slot 1 │ …
 *   slot:  Int32 lengthBytes │ Int32 generation │ Int32 frameSeq │ Int32 atMs │ payload (frameBytes, rounded up to 4)
 *
 * `head` counts frames written, `tail` frames read (both wrap at 2^32); full when head - tail equals the slot count.
 * A full ring drops the new frame and counts it. The reader looks at a frame in place (`peek`, then the fields), then
 * `release`s it. Each side writes a cache line of its own, knows its own count without looking, and looks at the
 * other's only when the ring seems full (writer) or empty (reader): an atomic access costs more than the rest of a
 * frame's bookkeeping.
 */
import { countForCollection } from './collected-memory.ts';

const HEAD = 0;
const DROPPED = 1;
const TAIL = 16;
const HEADER_BYTES = 80;
const SLOT_HEADER_BYTES = 16;

function slotStrideBytes(frameBytes: number): number {
  return SLOT_HEADER_BYTES + ((frameBytes + 3) & ~3);
}

/** Bytes of shared memory that a ring of `slots` frames of at most `frameBytes` takes. */
export function frameRingBytes(slots: number, frameBytes: number): number {
  return HEADER_BYTES + slots * slotStrideBytes(frameBytes);
}

/**
 * One pair for all that lies in a memory: each array is an object that has to be fetched, and two thousand calls' do
 * not fit a cache.
 */
export interface MemoryViews {
  bytes: Uint8Array;
  words: Int32Array;
}

export function viewsOf(memory: SharedArrayBuffer): MemoryViews {
  countForCollection(memory);
  return { bytes: new Uint8Array(memory), words: new Int32Array(memory) };
}

export class FrameRing {
  readonly slots: number;
  readonly frameBytes: number;
  /** The whole shared memory as bytes; a peeked frame lies at `[payloadStart, payloadStart + lengthBytes)`. */
  readonly bytes: Uint8Array;
  /** Fields of the frame that `peek` found. */
  payloadStart = 0;
  lengthBytes = 0;
  generation = 0;
  frameSeq = 0;
  atMs = 0;
  readonly #words: Int32Array;
  readonly #headAt: number;
  readonly #tailAt: number;
  readonly #slotsStart: number;
  readonly #strideBytes: number;
  /** The own count of the side that this object serves, and what it saw last of the other's. */
  #head: number;
  #tail: number;

  /** `byteOffset` must be a multiple of 4. */
  constructor(views: MemoryViews, byteOffset: number, slots: number, frameBytes: number) {
    this.slots = slots;
    this.frameBytes = frameBytes;
    this.bytes = views.bytes;
    this.#words = views.words;
    this.#headAt = byteOffset / 4 + HEAD;
    this.#tailAt = byteOffset / 4 + TAIL;
    this.#slotsStart = byteOffset + HEADER_BYTES;
    this.#strideBytes = slotStrideBytes(frameBytes);
    this.#head = Atomics.load(this.#words, this.#headAt);
    this.#tail = Atomics.load(this.#words, this.#tailAt);
  }

  /** The writer is to read what a dead reader has left: from here on this object serves both sides. */
  takeOver(): void {
    this.#tail = Atomics.load(this.#words, this.#tailAt);
  }

  get queuedFrames(): number {
    return (Atomics.load(this.#words, this.#headAt) - Atomics.load(this.#words, this.#tailAt)) | 0;
  }

  get freeFrames(): number {
    return this.slots - this.queuedFrames;
  }

  /** Frames refused because the ring was full, since it was made. */
  get droppedFrames(): number {
    return Atomics.load(this.#words, this.#headAt + DROPPED - HEAD) >>> 0;
  }

  /** Writer: copies `lengthBytes` (at most `frameBytes`) from `source`. False, and counted, when the ring is full. */
  tryWrite(
    source: Uint8Array,
    sourceStart: number,
    lengthBytes: number,
    generation: number,
    frameSeq: number,
    atMs: number,
  ): boolean {
    const head = this.#head;
    if (((head - this.#tail) | 0) >= this.slots) {
      this.#tail = Atomics.load(this.#words, this.#tailAt);
      if (((head - this.#tail) | 0) >= this.slots) {
        Atomics.add(this.#words, this.#headAt + DROPPED - HEAD, 1);
        return false;
      }
    }
    const start = this.#slotsStart + ((head >>> 0) % this.slots) * this.#strideBytes;
    const word = start >> 2;
    const length = Math.min(lengthBytes, this.frameBytes);
    this.#words[word] = length;
    this.#words[word + 1] = generation;
    this.#words[word + 2] = frameSeq;
    this.#words[word + 3] = atMs;
    const to = start + SLOT_HEADER_BYTES;
    for (let i = 0; i < length; i++) this.bytes[to + i] = source[sourceStart + i]!;
    this.#head = (head + 1) | 0;
    Atomics.store(this.#words, this.#headAt, this.#head);
    return true;
  }

  /** Reader: is there a frame? One atomic access at most, where `queuedFrames` takes two. */
  get hasFrame(): boolean {
    if (this.#head !== this.#tail) return true;
    this.#head = Atomics.load(this.#words, this.#headAt);
    return this.#head !== this.#tail;
  }

  /** Reader: finds the oldest frame and sets the fields; false when the ring is empty. */
  peek(): boolean {
    if (!this.hasFrame) return false;
    const tail = this.#tail;
    const start = this.#slotsStart + ((tail >>> 0) % this.slots) * this.#strideBytes;
    const word = start >> 2;
    this.lengthBytes = this.#words[word]!;
    this.generation = this.#words[word + 1]!;
    this.frameSeq = this.#words[word + 2]!;
    this.atMs = this.#words[word + 3]!;
    this.payloadStart = start + SLOT_HEADER_BYTES;
    return true;
  }

  /** Reader: gives the peeked frame's slot back. */
  release(): void {
    this.#tail = (this.#tail + 1) | 0;
    Atomics.store(this.#words, this.#tailAt, this.#tail);
  }
}
