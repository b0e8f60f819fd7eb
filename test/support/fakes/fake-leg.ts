/**
 * The I/O thread and the far end of one mu-law leg, for a virtual clock: each `step` is 20 ms. It writes what the
 * caller says into the uplink ring, takes frames from the downlink ring 60 ms ahead of the far end's playout, carries
 * out generations, and keeps the playhead, as `media/io` does. It notes every frame sent and played, and fails on one
 * of an older generation.
 */
import { encodeMulaw } from '../../../media/audio/g711.ts';
import { FRAME_MS, MULAW_8K } from '../../../media/contract/audio-format.ts';
import { CallBlock } from '../../../media/rings/call-block.ts';

const LEAD_MS = 60;
const LOUD = new Uint8Array(160);
const QUIET = new Uint8Array(160).fill(0xff);
encodeMulaw(new Int16Array(160).fill(6_000), 0, 160, LOUD, 0);

export interface SentFrame {
  seq: number;
  generation: number;
  atMs: number;
  bytes: Uint8Array;
  /** False until it was played to its end. */
  played: boolean;
}

export class FakeLeg {
  readonly block = CallBlock.create(MULAW_8K);
  readonly sent: SentFrame[] = [];
  /** Stream time of each clear. */
  readonly clearsAtMs: number[] = [];
  /** The caller's voice in the next frames. */
  callerSpeaks = false;
  /** Real audio of the caller, a frame each step; before it the steady sound of `callerSpeaks`. */
  readonly callerFrames: Uint8Array[] = [];
  /** No frames come up the line at all. */
  lineIsDead = false;
  /** Generations are carried out no more: the I/O thread hangs. */
  hangs = false;
  #nowMs = 0;
  #uplinkSeq = 0;
  #playedUntilMs = 0;
  #atFarEnd: { frame: SentFrame; endsAtMs: number }[] = [];

  get nowMs(): number {
    return this.#nowMs;
  }

  /** The last stream time at which the far end had agent audio to play. */
  get playedUntilMs(): number {
    return this.#playedUntilMs;
  }

  /** 20 ms pass: what happened on the wire in them. Call the session's tick after it. */
  step(): void {
    this.#nowMs += FRAME_MS;
    this.block.streamMs = this.#nowMs;
    if (!this.lineIsDead) {
      const frame = this.callerFrames.shift() ?? (this.callerSpeaks ? LOUD : QUIET);
      this.block.uplink.tryWrite(frame, 0, 160, 0, ++this.#uplinkSeq, this.#nowMs - FRAME_MS);
    }
    if (!this.hangs) this.#service();
  }

  /** A caller's frame that is late or early: writes one with this audio time now. */
  callerFrameAt(atMs: number, isSpeech: boolean): void {
    this.block.uplink.tryWrite(isSpeech ? LOUD : QUIET, 0, 160, 0, ++this.#uplinkSeq, atMs);
  }

  #service(): void {
    this.#settlePlayed();
    const { block } = this;
    if (block.generation !== block.appliedGeneration) {
      const { generation } = block;
      while (block.downlink.peek() && block.downlink.generation < generation) block.downlink.release();
      this.#atFarEnd = [];
      this.#playedUntilMs = Math.min(this.#playedUntilMs, this.#nowMs);
      this.clearsAtMs.push(this.#nowMs);
      block.appliedGeneration = generation;
    }
    while (this.#playedUntilMs - this.#nowMs < LEAD_MS && block.downlink.peek()) {
      const { generation, frameSeq, payloadStart, lengthBytes } = block.downlink;
      const bytes = block.downlink.bytes.slice(payloadStart, payloadStart + lengthBytes);
      block.downlink.release();
      if (generation !== block.appliedGeneration) throw new Error(`frame ${frameSeq} is of generation ${generation}`);
      const last = this.sent.at(-1)?.seq ?? 0;
      if (frameSeq <= last) throw new Error(`frame ${frameSeq} came after ${last}`);
      const frame = { seq: frameSeq, generation, atMs: this.#nowMs, bytes, played: false };
      this.sent.push(frame);
      this.#playedUntilMs = Math.max(this.#playedUntilMs, this.#nowMs) + FRAME_MS;
      this.#atFarEnd.push({ frame, endsAtMs: this.#playedUntilMs });
      block.sentSeq = frameSeq;
    }
  }

  #settlePlayed(): void {
    while (this.#atFarEnd[0] !== undefined && this.#atFarEnd[0].endsAtMs <= this.#nowMs) {
      const { frame } = this.#atFarEnd.shift()!;
      frame.played = true;
      this.block.playedSeq = frame.seq;
    }
  }
}
