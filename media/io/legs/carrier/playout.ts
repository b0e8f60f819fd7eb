/**
 * Sends one leg's downlink: takes frames from the ring so that the far end always has 50 to 90 ms to play (40 to 100 ms
 * with three frames a message), never over 100; keeps `sentSeq`, `playedSeq` and the record of what was played true;
 * and carries out a raised generation: after `appliedGeneration` is stored, no older frame is ever sent.
 * `carrier-leg.ts` calls `service` once in 20 ms, and at once when the pipeline rings. No allocation per frame; rare
 * messages may.
 */
import { FRAME_MS, frameBytesOf, type LegFormat, silenceByteOf } from '../../../contract/audio-format.ts';
import type { CallBlock } from '../../../rings/call-block.ts';
import type { FrameRing } from '../../../rings/frame-ring.ts';
import { PLAYED } from '../../../rings/record-ring.ts';
import type { MediaCodec } from '../../carriers/media-codec.ts';
import type { MediaSocket } from '../../socket-server/media-socket-server.ts';
import type { SoundTap } from '../core/sound-tap.ts';
import { FarEnd } from './far-end.ts';

/**
 * One frame in each service while the lead is not above the first; more in the same service only up to the second.
 * Between them lie 30 ms in which each service sends exactly one, however early or late it comes: never none and then
 * two.
 */
const LEAD_MS = 70;
const REFILL_LEAD_MS = 60;
/** With three frames a message: 40 + 60 = 100 ms at most. */
const BATCH_LEAD_MS = 40;
/** Less than a batch waits: send what there is before the far end runs dry. */
const LATE_LEAD_MS = 20;
const CHECKPOINT_EVERY_FRAMES = 10;
/** A pause longer than this is the end of an utterance, not a ring that ran empty. */
const LONGEST_UNDERRUN_MS = 300;

export interface PlayoutOptions {
  format: LegFormat;
  framesPerMessage: 1 | 3;
  codec: MediaCodec;
  socket: Pick<MediaSocket<unknown>, 'send'>;
  record: FrameRing | null;
  /** Monotonic ms at which the stream began. */
  startedAtMs: number;
}

export class Playout {
  /** Frames of older generations that were dropped unsent, or taken back from the far end by a clear. */
  droppedFrames = 0;
  playedFrames = 0;
  /** Messages that the socket did not take. */
  sendsDropped = 0;
  /** Ms from the stream's begin to the first frame handed to the carrier; -1 before. */
  firstSentMs = -1;
  // What each frame needs, at hand: the options would be one more object to fetch.
  readonly #framesPerMessage: 1 | 3;
  readonly #codec: MediaCodec;
  readonly #socket: Pick<MediaSocket<unknown>, 'send'>;
  readonly #record: FrameRing | null;
  readonly #startedAtMs: number;
  readonly #silenceByte: number;
  readonly #farEnd: FarEnd;
  readonly #frameBytes: number;
  readonly #batch: Uint8Array;
  readonly #batchSeqs = new Int32Array(3);
  #block: CallBlock;
  #generation = 0;
  #sentSinceCheckpoint = 0;
  #sentSinceClear = 0;
  #recordedUntilMs = 0;
  #tap: SoundTap | null = null;

  constructor(options: PlayoutOptions, block: CallBlock) {
    this.#framesPerMessage = options.framesPerMessage;
    this.#codec = options.codec;
    this.#socket = options.socket;
    this.#record = options.record;
    this.#startedAtMs = options.startedAtMs;
    this.#block = block;
    this.#frameBytes = frameBytesOf(options.format);
    this.#silenceByte = silenceByteOf(options.format);
    this.#farEnd = new FarEnd(options.record === null ? 0 : this.#frameBytes);
    this.#batch = new Uint8Array(this.#frameBytes * 3);
  }

  /** Who listens in gets each frame when it has been played; null: nobody. */
  listen(tap: SoundTap | null): void {
    if (tap !== null) this.#farEnd.keepSound(this.#frameBytes, this.#silenceByte);
    this.#tap = tap;
  }

  leadMs(nowMs: number): number {
    return this.#farEnd.leadMs(nowMs);
  }

  /** Something waits that should not wait for the call's slot: a clear, or the first frames of an utterance. */
  isUrgent(nowMs: number): boolean {
    if (this.#block.generation !== this.#generation) return true;
    return this.#farEnd.leadMs(nowMs) < FRAME_MS && this.#block.downlink.hasFrame;
  }

  service(nowMs: number): void {
    if (this.#block.generation !== this.#generation) this.#applyGeneration(nowMs);
    this.#settlePlayed(nowMs);
    if (this.#framesPerMessage === 3) this.#sendBatches(nowMs);
    else this.#sendFrames(nowMs);
    this.#sendCheckpoint(nowMs);
  }

  /**
   * When the next full message may go out, if frames for it wait; Infinity when the call's slot is soon enough. Waiting
   * for the slot would cost up to 20 of the 40 ms that the far end has left.
   */
  nextDueAtMs(nowMs: number): number {
    if (this.#framesPerMessage === 1 || this.#block.downlink.queuedFrames < 3) return Number.POSITIVE_INFINITY;
    return nowMs + this.#farEnd.leadMs(nowMs) - BATCH_LEAD_MS;
  }

  /** Presses keys towards the far end. False: the carrier's stream has no such message. */
  sendDigits(digits: string): boolean {
    const message = this.#codec.digitsMessage?.(digits);
    if (message === undefined) return false;
    this.#send(message);
    return true;
  }

  /** A checkpoint came back. Names of older generations, and foreign ones, change nothing. */
  acknowledged(name: string, nowMs: number): void {
    const dash = name.indexOf('-');
    if (name[0] !== 'g' || dash < 2) return;
    if (Number(name.slice(1, dash)) !== this.#generation) return;
    if (this.#farEnd.acknowledged(Number(name.slice(dash + 1)), nowMs)) this.#settlePlayed(nowMs);
  }

  /** Another pipeline thread goes on with the call, on a block of its own; what is at the far end plays to its end. */
  rebind(block: CallBlock): void {
    this.#block = block;
    this.#generation = 0;
    this.#sentSinceCheckpoint = 0;
    this.#farEnd.renumber();
  }

  /** The socket is gone: what was played by now was played, the rest was not. */
  finish(nowMs: number): void {
    this.#settlePlayed(nowMs);
    this.droppedFrames += this.#farEnd.clear(nowMs);
  }

  #send(message: Uint8Array): void {
    if (this.#socket.send(message, false) === 'dropped') this.sendsDropped++;
  }

  /** What the ring still holds of older generations, `#hasCurrent` drops. */
  #applyGeneration(nowMs: number): void {
    const generation = this.#block.generation;
    this.#settlePlayed(nowMs);
    if (this.#sentSinceClear > 0) this.#send(this.#codec.clearMessage());
    this.#sentSinceClear = 0;
    this.#sentSinceCheckpoint = 0;
    this.droppedFrames += this.#farEnd.clear(nowMs);
    this.#generation = generation;
    this.#block.appliedGeneration = generation;
  }

  #settlePlayed(nowMs: number): void {
    const farEnd = this.#farEnd;
    while (farEnd.takePlayed(nowMs)) {
      if (farEnd.playedSeq > 0) this.#block.playedSeq = farEnd.playedSeq;
      this.playedFrames++;
      const record = this.#record;
      const tap = this.#tap;
      if (record === null && tap === null) continue;
      const atMs = Math.max(farEnd.playedAtMs - this.#startedAtMs, this.#recordedUntilMs);
      this.#recordedUntilMs = atMs + FRAME_MS;
      const roundedAtMs = Math.round(atMs);
      const { bytes, playedSlotStart } = farEnd;
      record?.tryWrite(bytes, playedSlotStart, this.#frameBytes, PLAYED, this.playedFrames, roundedAtMs);
      if (tap !== null) tap.frame(PLAYED, bytes, playedSlotStart, this.#frameBytes, roundedAtMs);
    }
  }

  #sendFrames(nowMs: number): void {
    const ring = this.#block.downlink;
    let limitMs = LEAD_MS;
    while (this.#farEnd.leadMs(nowMs) <= limitMs && !this.#farEnd.isFull && this.#hasCurrent(ring, nowMs)) {
      limitMs = REFILL_LEAD_MS;
      const message = this.#codec.audioMessage(ring.bytes, ring.payloadStart, this.#frameBytes);
      this.#send(message);
      this.#count(ring.frameSeq, ring.bytes, ring.payloadStart, nowMs);
      ring.release();
    }
  }

  #sendBatches(nowMs: number): void {
    const ring = this.#block.downlink;
    for (;;) {
      const leadMs = this.#farEnd.leadMs(nowMs);
      const waiting = ring.queuedFrames;
      if (waiting === 0 || leadMs > (waiting >= 3 ? BATCH_LEAD_MS : LATE_LEAD_MS) || this.#farEnd.isFull) return;
      let taken = 0;
      while (taken < 3 && this.#hasCurrent(ring, nowMs)) {
        const to = taken * this.#frameBytes;
        for (let i = 0; i < this.#frameBytes; i++) this.#batch[to + i] = ring.bytes[ring.payloadStart + i]!;
        this.#batchSeqs[taken++] = ring.frameSeq;
        ring.release();
      }
      // Raised while we gathered: these frames are void already.
      if (this.#block.generation !== this.#generation) {
        this.droppedFrames += taken;
        this.#applyGeneration(nowMs);
        continue;
      }
      if (taken === 0) return;
      this.#send(this.#codec.audioMessage(this.#batch, 0, taken * this.#frameBytes));
      for (let i = 0; i < taken; i++) this.#count(this.#batchSeqs[i]!, this.#batch, i * this.#frameBytes, nowMs);
    }
  }

  /** Peeks the oldest frame of the current generation; older ones are dropped. A newer one waits for its clear. */
  #hasCurrent(ring: FrameRing, nowMs: number): boolean {
    while (ring.peek()) {
      const age = ring.generation - this.#generation;
      if (age === 0) return true;
      if (age > 0 && this.#block.generation !== this.#generation) {
        // Raised since `service` began. Only between messages, or `#sendBatches` would send what it has gathered.
        if (this.#framesPerMessage === 3) return false;
        this.#applyGeneration(nowMs);
        continue;
      }
      ring.release();
      this.droppedFrames++;
    }
    return false;
  }

  #count(seq: number, bytes: Uint8Array, start: number, nowMs: number): void {
    const dryMs = this.#farEnd.sent(seq, bytes, start, nowMs);
    if (this.#sentSinceClear > 0 && dryMs > 0 && dryMs < LONGEST_UNDERRUN_MS) {
      for (let missedMs = 0; missedMs < dryMs; missedMs += FRAME_MS) this.#block.addUnderrun();
    }
    // Before `sentSeq`, by which the pipeline knows that there is something to read.
    if (dryMs > 0 || this.firstSentMs < 0) this.#block.runSentAtMs = Math.round(nowMs - this.#startedAtMs);
    if (this.firstSentMs < 0) this.firstSentMs = nowMs - this.#startedAtMs;
    this.#block.sentSeq = seq;
    this.#sentSinceClear++;
    this.#sentSinceCheckpoint++;
  }

  /** Every 200 ms of audio, and behind the last frame when nothing has followed it. */
  #sendCheckpoint(nowMs: number): void {
    if (this.#sentSinceCheckpoint === 0) return;
    const isUtteranceEnd = this.#farEnd.leadMs(nowMs) < LATE_LEAD_MS && !this.#block.downlink.hasFrame;
    if (this.#sentSinceCheckpoint < CHECKPOINT_EVERY_FRAMES && !isUtteranceEnd) return;
    this.#sentSinceCheckpoint = 0;
    this.#farEnd.checkpointSent();
    this.#send(this.#codec.checkpointMessage(`g${this.#generation}-${this.#block.sentSeq}`));
  }
}
