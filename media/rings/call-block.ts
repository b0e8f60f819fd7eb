/**
 * One call's shared memory between the I/O thread and its pipeline thread: control words and two frame rings.
 *
 *   control words (16 × Int32) │ uplink ring (I/O → pipeline) │ downlink ring (pipeline → I/O)
 *
 * Barge-in is one number: the pipeline raises `generation`; the I/O thread, at its next tick, sends the carrier's
 * clear, drops what is queued of older generations, settles the playhead and stores the number in `appliedGeneration`.
 * No frame of an older generation is ever sent after that.
 * `sentSeq`, `playedSeq`, `streamMs`, `runSentAtMs` and `heardChars` are stored plainly, once a frame at least: whole
 * words, each with one writer, seen by the other thread at the latest with the ring's next atomic store. What decides
 * (the generations) is atomic.
 */
import { frameBytesOf, type LegFormat } from '../contract/audio-format.ts';
import type { CallSetup } from '../contract/link-messages.ts';
import { FrameRing, frameRingBytes, viewsOf } from './frame-ring.ts';

const CONTROL_WORDS = 16;
const CONTROL_BYTES = CONTROL_WORDS * 4;
/** 400 ms each way: the most that a stalled thread can be behind before frames are dropped and counted. */
export const RING_FRAMES = 20;

const GENERATION = 0;
const APPLIED_GENERATION = 1;
const SENT_SEQ = 2;
const PLAYED_SEQ = 3;
const STREAM_MS = 4;
const UNDERRUN_FRAMES = 5;
const HEARD_CHARS = 6;
const RUN_SENT_AT_MS = 7;

/** 2 s of a browser's sound: after a stall of its network all that was kept back comes at once. */
const WEB_UPLINK_FRAMES = 100;

export interface BlockShape {
  input: LegFormat;
  output: LegFormat;
  uplinkFrames: number;
}

/** Both threads make the same of a call's setup. */
export function blockShapeOf(setup: Pick<CallSetup, 'format' | 'outputFormat' | 'web'>): BlockShape {
  return {
    input: setup.format,
    output: setup.outputFormat ?? setup.format,
    uplinkFrames: setup.web === undefined ? RING_FRAMES : WEB_UPLINK_FRAMES,
  };
}

function shapeOf(of: LegFormat | BlockShape): BlockShape {
  return 'codec' in of ? { input: of, output: of, uplinkFrames: RING_FRAMES } : of;
}

function uplinkBytesOf({ input, uplinkFrames }: BlockShape): number {
  return frameRingBytes(uplinkFrames, frameBytesOf(input));
}

export class CallBlock {
  readonly memory: SharedArrayBuffer;
  readonly uplink: FrameRing;
  readonly downlink: FrameRing;
  readonly #words: Int32Array;

  private constructor(memory: SharedArrayBuffer, shape: BlockShape) {
    const uplinkBytes = uplinkBytesOf(shape);
    this.memory = memory;
    const views = viewsOf(memory);
    this.#words = views.words;
    this.uplink = new FrameRing(views, CONTROL_BYTES, shape.uplinkFrames, frameBytesOf(shape.input));
    this.downlink = new FrameRing(views, CONTROL_BYTES + uplinkBytes, RING_FRAMES, frameBytesOf(shape.output));
  }

  /** A format alone: the same both ways, as telephone legs have it. */
  static create(of: LegFormat | BlockShape): CallBlock {
    const shape = shapeOf(of);
    const downlinkBytes = frameRingBytes(RING_FRAMES, frameBytesOf(shape.output));
    return new CallBlock(new SharedArrayBuffer(CONTROL_BYTES + uplinkBytesOf(shape) + downlinkBytes), shape);
  }

  /** The other thread's view of a block that was created with the same format or shape. */
  static attach(memory: SharedArrayBuffer, of: LegFormat | BlockShape): CallBlock {
    return new CallBlock(memory, shapeOf(of));
  }

  get generation(): number {
    return Atomics.load(this.#words, GENERATION);
  }

  /** Pipeline: everything queued so far is void. Returns the new generation, which the next frames must carry. */
  raiseGeneration(): number {
    return Atomics.add(this.#words, GENERATION, 1) + 1;
  }

  /** The generation whose clear the I/O thread has carried out. */
  get appliedGeneration(): number {
    return Atomics.load(this.#words, APPLIED_GENERATION);
  }

  set appliedGeneration(value: number) {
    Atomics.store(this.#words, APPLIED_GENERATION, value);
  }

  /**
   * `frameSeq` of the last downlink frame handed to the far end; 0 before the first. The
   * pipeline numbers frames from 1.
   */
  get sentSeq(): number {
    return Atomics.load(this.#words, SENT_SEQ);
  }

  set sentSeq(value: number) {
    this.#words[SENT_SEQ] = value;
  }

  /** `frameSeq` of the last downlink frame that the far end has played (the playhead); never above `sentSeq`. */
  get playedSeq(): number {
    return Atomics.load(this.#words, PLAYED_SEQ);
  }

  set playedSeq(value: number) {
    this.#words[PLAYED_SEQ] = value;
  }

  /** I/O thread's ms since the stream began: the clock of turns, checkpoints and the recording. */
  get streamMs(): number {
    return Atomics.load(this.#words, STREAM_MS);
  }

  set streamMs(value: number) {
    this.#words[STREAM_MS] = value;
  }

  /** Ms of stream at which the far end, which had nothing left to play, was last given a frame; 0 before. */
  get runSentAtMs(): number {
    return Atomics.load(this.#words, RUN_SENT_AT_MS);
  }

  set runSentAtMs(value: number) {
    this.#words[RUN_SENT_AT_MS] = value;
  }

  /**
   * Pipeline: of the text that it is saying, the characters that were heard to their end. What
   * was heard outlives who said it.
   */
  get heardChars(): number {
    return Atomics.load(this.#words, HEARD_CHARS);
  }

  set heardChars(value: number) {
    this.#words[HEARD_CHARS] = value;
  }

  /** Frames that were due while an utterance ran and its ring was empty. */
  get underrunFrames(): number {
    return Atomics.load(this.#words, UNDERRUN_FRAMES);
  }

  addUnderrun(): void {
    Atomics.add(this.#words, UNDERRUN_FRAMES, 1);
  }
}
