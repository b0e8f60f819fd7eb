/**
 * The shared memory of one leg: the block between it and its pipeline thread, a new one for each thread that goes on
 * for a dead one, and the record ring beside it, which outlives them. Each kind of leg has one from when its formats
 * are known.
 */
import type { CallSetup } from '../../../contract/link-messages.ts';
import { type BlockShape, blockShapeOf, CallBlock } from '../../../rings/call-block.ts';
import type { FrameRing } from '../../../rings/frame-ring.ts';
import { createRecordRing } from '../../../rings/record-ring.ts';
import type { RingCounters } from './leg-counters.ts';

/** What is tied to the block, and goes to the next one. */
export interface OnRings {
  uplink: { rebind(ring: FrameRing): void };
  playout: { rebind(block: CallBlock): void };
}

export class CallRings {
  /** Null: the call is not recorded. */
  readonly record: FrameRing | null;
  readonly recordMemory: SharedArrayBuffer | null;
  readonly #shape: BlockShape;
  #block: CallBlock;
  #lostThreadAtMs = 0;
  /** Counted by blocks that the call has left. */
  #earlierUnderruns = 0;
  #earlierUplinkRefused = 0;
  #earlierDownlinkRefused = 0;

  constructor(setup: Pick<CallSetup, 'format' | 'outputFormat' | 'web'>, isRecorded: boolean) {
    this.#shape = blockShapeOf(setup);
    this.#block = CallBlock.create(this.#shape);
    const record = isRecorded ? createRecordRing(this.#shape.input, this.#shape.output) : null;
    this.record = record?.ring ?? null;
    this.recordMemory = record?.memory ?? null;
  }

  get block(): CallBlock {
    return this.#block;
  }

  /** A new block for the thread that goes on, with what the dead one had not read. */
  rebind(streamMs: number, lostAtMs: number, { uplink, playout }: OnRings): CallBlock {
    const old = this.#block;
    this.#earlierUnderruns += old.underrunFrames;
    this.#earlierUplinkRefused += old.uplink.droppedFrames;
    this.#earlierDownlinkRefused += old.downlink.droppedFrames;
    const block = CallBlock.create(this.#shape);
    old.uplink.takeOver();
    while (old.uplink.peek()) {
      const { bytes, payloadStart, lengthBytes, generation, frameSeq, atMs } = old.uplink;
      block.uplink.tryWrite(bytes, payloadStart, lengthBytes, generation, frameSeq, atMs);
      old.uplink.release();
    }
    block.streamMs = streamMs;
    this.#block = block;
    uplink.rebind(block.uplink);
    playout.rebind(block);
    this.#lostThreadAtMs = lostAtMs;
    return block;
  }

  /** A thread died, and its successor has not read everything yet. */
  get isRecovering(): boolean {
    return this.#lostThreadAtMs > 0;
  }

  /** Ms from a thread's death to the moment at which the next has read everything, once; else 0. */
  recoveredInMs(nowMs: number): number {
    if (this.#lostThreadAtMs === 0 || this.#block.uplink.queuedFrames > 0) return 0;
    const gapMs = Math.round(nowMs - this.#lostThreadAtMs);
    this.#lostThreadAtMs = 0;
    return gapMs;
  }

  get counters(): RingCounters {
    const { uplink, downlink, underrunFrames } = this.#block;
    return {
      underrunFrames: this.#earlierUnderruns + underrunFrames,
      uplinkRefusedFrames: this.#earlierUplinkRefused + uplink.droppedFrames,
      downlinkRefusedFrames: this.#earlierDownlinkRefused + downlink.droppedFrames,
      recordRefusedFrames: this.record?.droppedFrames ?? 0,
    };
  }
}
