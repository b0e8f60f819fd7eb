/**
 * A model of the far end's play queue: frames that were sent and, by our reckoning, not played yet. It plays one frame
 * after the other in real time from when it was sent; checkpoints that come back tell by how much it is really behind.
 * `playout.ts` owns one a leg. Times are the I/O thread's monotonic ms. No allocation per frame.
 *
 * Everything is reckoned in the time at which we send: a clear sent at t stops the far end at the frame that the model
 * plays at t, because both take the same way there. So the network's delay cancels out, and only what the far end is
 * behind beyond its usual delay moves the playhead.
 */

import { FRAME_MS } from '../../../contract/audio-format.ts';

/** Frames that can be under way: 100 ms of lead plus the most that the far end may be behind. Power of 2. */
const CAPACITY_FRAMES = 32;
const CHECKPOINTS = 32;
/** More than the usual scatter of acknowledgements (100–400 ms, of which the constant part cancels out). */
const NOTICEABLE_BEHIND_MS = 40;
const MOST_BEHIND_MS = 400;
/** The usual delay is the least seen; it creeps up so that a changed route is learned. */
const USUAL_DELAY_CREEP_MS = 0.5;

export class FarEnd {
  /** The oldest frame under way, set by `takePlayed`. */
  playedSeq = 0;
  playedAtMs = 0;
  playedSlotStart = 0;
  /** By how much the far end lags behind the model, ms. */
  behindMs = 0;
  frameBytes: number;
  /** The frames under way, for the recording of what was played and for who listens in. */
  bytes: Uint8Array;
  /** Of each frame its number and when it ends; in one array, because two would have to be fetched. */
  readonly #underWay = new Float64Array(CAPACITY_FRAMES * 2);
  #head = 0;
  #tail = 0;
  #playsUntilMs = Number.NEGATIVE_INFINITY;

  readonly #checkpointSeqs = new Int32Array(CHECKPOINTS);
  readonly #checkpointEndsAtMs = new Float64Array(CHECKPOINTS);
  #checkpointHead = 0;
  #checkpointTail = 0;
  #usualDelayMs = Number.POSITIVE_INFINITY;
  #lastExcessMs = 0;
  #acknowledgedSeq = 0;

  /** `frameBytes` 0: nobody records, so no audio is kept until somebody listens (`keepSound`). */
  constructor(frameBytes: number) {
    this.frameBytes = frameBytes;
    this.bytes = new Uint8Array(CAPACITY_FRAMES * frameBytes);
  }

  /** From now on audio is kept; of what is under way already there is silence. */
  keepSound(frameBytes: number, silenceByte: number): void {
    if (this.frameBytes > 0) return;
    this.frameBytes = frameBytes;
    this.bytes = new Uint8Array(CAPACITY_FRAMES * frameBytes).fill(silenceByte);
  }

  get framesUnderWay(): number {
    return this.#tail - this.#head;
  }

  get isFull(): boolean {
    return this.framesUnderWay >= CAPACITY_FRAMES;
  }

  /** Ms of audio that the far end still has to play; 0 or less when it has run dry. */
  leadMs(nowMs: number): number {
    return this.#playsUntilMs + this.behindMs - nowMs;
  }

  /**
   * A frame was sent; returns the ms for which the far end had nothing to play before it (0 when it follows on;
   * Infinity: the first).
   */
  sent(seq: number, source: Uint8Array, start: number, nowMs: number): number {
    const dryMs = -this.leadMs(nowMs);
    if (dryMs >= 0) {
      this.#playsUntilMs = nowMs;
      this.behindMs = 0;
      this.#lastExcessMs = 0;
    }
    this.#playsUntilMs += FRAME_MS;
    const slot = this.#tail & (CAPACITY_FRAMES - 1);
    this.#underWay[slot * 2] = seq;
    this.#underWay[slot * 2 + 1] = this.#playsUntilMs;
    const to = slot * this.frameBytes;
    for (let i = 0; i < this.frameBytes; i++) this.bytes[to + i] = source[start + i]!;
    this.#tail++;
    return Math.max(dryMs, 0);
  }

  /**
   * True, and the `played…` fields set, when the oldest frame under way has been played by `nowMs`. Call until false.
   */
  takePlayed(nowMs: number): boolean {
    if (this.#head === this.#tail) return false;
    const slot = this.#head & (CAPACITY_FRAMES - 1);
    const endsAtMs = this.#underWay[slot * 2 + 1]! + this.behindMs;
    const seq = this.#underWay[slot * 2]!;
    if (endsAtMs > nowMs && seq > this.#acknowledgedSeq) return false;
    this.playedSeq = seq;
    this.playedAtMs = endsAtMs - FRAME_MS;
    this.playedSlotStart = slot * this.frameBytes;
    this.#head++;
    return true;
  }

  /** A checkpoint goes out behind the frame sent last. */
  checkpointSent(): void {
    if (this.#checkpointTail - this.#checkpointHead >= CHECKPOINTS) this.#checkpointHead++;
    const slot = this.#checkpointTail++ & (CHECKPOINTS - 1);
    this.#checkpointSeqs[slot] = this.#tail === 0 ? 0 : this.#underWay[((this.#tail - 1) & (CAPACITY_FRAMES - 1)) * 2]!;
    this.#checkpointEndsAtMs[slot] = this.#playsUntilMs;
  }

  /** The checkpoint behind frame `seq` came back. False when it is none that we wait for. */
  acknowledged(seq: number, nowMs: number): boolean {
    while (this.#checkpointHead < this.#checkpointTail) {
      const slot = this.#checkpointHead & (CHECKPOINTS - 1);
      const expectedSeq = this.#checkpointSeqs[slot]!;
      if (expectedSeq > seq) return false;
      this.#checkpointHead++;
      if (expectedSeq < seq) continue;
      this.#acknowledgedSeq = seq;
      this.#learn(nowMs - this.#checkpointEndsAtMs[slot]!);
      return true;
    }
    return false;
  }

  /** All that is under way will not be played. Returns the number of frames. Call `takePlayed` first. */
  clear(nowMs: number): number {
    const dropped = this.framesUnderWay;
    this.#head = this.#tail;
    this.#checkpointHead = this.#checkpointTail;
    this.#playsUntilMs = nowMs;
    this.behindMs = 0;
    this.#lastExcessMs = 0;
    return dropped;
  }

  /**
   * Frame numbers begin anew (another pipeline thread): what is under way plays on, but counts for no one's playhead.
   */
  renumber(): void {
    for (let at = this.#head; at < this.#tail; at++) this.#underWay[(at & (CAPACITY_FRAMES - 1)) * 2] = 0;
    this.#checkpointHead = this.#checkpointTail;
    this.#acknowledgedSeq = -1;
  }

  #learn(delayMs: number): void {
    this.#usualDelayMs = Math.min(delayMs, this.#usualDelayMs + USUAL_DELAY_CREEP_MS);
    const excessMs = delayMs - this.#usualDelayMs;
    // Two in a row: one late acknowledgement is only a late acknowledgement.
    const believedMs = Math.min(excessMs, this.#lastExcessMs);
    this.#lastExcessMs = excessMs;
    this.behindMs = believedMs < NOTICEABLE_BEHIND_MS ? 0 : Math.min(believedMs, MOST_BEHIND_MS);
  }
}
