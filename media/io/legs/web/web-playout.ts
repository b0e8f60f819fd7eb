/**
 * A web session's downlink: takes frames and marks from the ring, sends so much that the browser never has more than
 * `bufferMs` unplayed, and keeps the playhead true by what the browser says it has played (`playback.position`);
 * between two reports, and for a player that makes none, by the clock. Carries out a raised generation as `playout.ts`
 * does, and asks the browser what was heard before it says so. `web-leg.ts` calls `service` once in 20 ms, and at once
 * when the pipeline rings. No allocation per frame; rare messages may.
 *
 * All positions are ms of sound sent since the session began, over all utterances, so that one number compares with
 * another.
 *
 *   played (recorded, `playedSeq`) ≤ estimate of now ≤ sent        sent - estimate ≤ bufferMs
 */
import { FRAME_MS, frameBytesOf, type LegFormat } from '../../../contract/audio-format.ts';
import type { CallBlock } from '../../../rings/call-block.ts';
import type { FrameRing } from '../../../rings/frame-ring.ts';
import { PLAYED } from '../../../rings/record-ring.ts';
import { goesOn, isEndMark, turnOfMark } from '../../../rings/utterance-mark.ts';
import type { SoundTap } from '../core/sound-tap.ts';
import type { WebLine } from './web-line.ts';

export interface WebPlayoutEvents {
  /** Before its first frame. `turn` 0: none. */
  utteranceStarted(utterance: number, turn: number, resumes: number): void;
  /** After its last frame. */
  utteranceEnded(utterance: number, turn: number, audioMs: number): void;
  cleared(utterance: number): void;
  /** The browser has begun to play it, so long after its first frame was sent. */
  heard(turn: number, delayMs: number): void;
}

export interface WebPlayoutOptions {
  output: LegFormat;
  bufferMs: number;
  record: FrameRing | null;
  /** Where frames go; what it does not take is left out. */
  line: Pick<WebLine, 'sound'>;
  events: WebPlayoutEvents;
}

/** A report that is missing: the clock is believed for so long after the last. */
const BELIEVE_CLOCK_MS = 500;
/** A player that has stopped to report altogether. */
const REPORTS_FORGOTTEN_MS = 3_000;
/** After a clear, how long the browser's last word on it is waited for. */
const LAST_WORD_MS = 250;
const MOST_START_DELAY_MS = 500;
/** A pause longer than this is the end of an utterance, not a ring that ran empty. */
const LONGEST_UNDERRUN_MS = 300;
const SPARE_FRAMES = 16;
/** Utterances whose positions may still come. */
const KNOWN_UTTERANCES = 4;

export class WebPlayout {
  playedFrames = 0;
  droppedFrames = 0;
  /** Left out for a browser that reads too slowly. */
  skippedFrames = 0;
  firstSentMs = -1;
  readonly #options: WebPlayoutOptions;
  readonly #frameBytes: number;
  readonly #capacity: number;
  /** The frames under way; empty while nobody records or listens. */
  #bytes: Uint8Array;
  #tap: SoundTap | null = null;
  /** The frames before this one were under way when the first listener came: their sound was not kept. */
  #keptFrom = 0;
  readonly #seqs: Int32Array;
  readonly #lengths: Int32Array;
  readonly #endsMs: Float64Array;
  #head = 0;
  #tail = 0;
  #block: CallBlock;
  #generation = 0;
  #sentMs = 0;
  /** The playhead was here at this time, and moves with the clock. */
  #anchorMs = 0;
  #anchorAtMs = 0;
  #reports = false;
  #reportedMs = 0;
  #reportedAtMs = 0;
  /** Sound began to flow here, after silence. */
  #spurtMs = 0;
  #spurtAtMs = 0;
  #spurtReported = true;
  /** From the first frame of a spurt to its first sound at the browser, as learned. */
  #startDelayMs = 0;
  #isOpen = false;
  #utterance = 0;
  #turn = 0;
  #firstSentAtMs = 0;
  #heardTold = true;
  readonly #startsMs = new Float64Array(KNOWN_UTTERANCES);
  readonly #endsAtMs = new Float64Array(KNOWN_UTTERANCES);
  /** A clear went out; until then the browser may say what of it was heard. */
  #awaitingUntilMs = Number.NaN;
  #recordedUntilMs = 0;
  #streamStartedAtMs: number;

  constructor(options: WebPlayoutOptions, block: CallBlock, startedAtMs: number) {
    this.#options = options;
    this.#block = block;
    this.#frameBytes = frameBytesOf(options.output);
    this.#capacity = Math.ceil(options.bufferMs / FRAME_MS) + SPARE_FRAMES;
    this.#bytes = new Uint8Array(options.record === null ? 0 : this.#capacity * this.#frameBytes);
    this.#seqs = new Int32Array(this.#capacity);
    this.#lengths = new Int32Array(this.#capacity);
    this.#endsMs = new Float64Array(this.#capacity);
    this.#streamStartedAtMs = startedAtMs;
    this.#anchorAtMs = startedAtMs;
  }

  /** Who listens in gets each frame when it has been played; null: nobody. */
  listen(tap: SoundTap | null): void {
    this.#tap = tap;
    if (tap === null || this.#bytes.length > 0) return;
    this.#bytes = new Uint8Array(this.#capacity * this.#frameBytes);
    this.#keptFrom = this.#tail;
  }

  /** Sound that the browser has and has not played, by our reckoning. */
  leadMs(nowMs: number): number {
    return this.#sentMs - this.#estimateMs(nowMs);
  }

  /** All that was sent has been played, and nothing waits. */
  isIdle(nowMs: number): boolean {
    return this.leadMs(nowMs) <= 0 && this.#block.downlink.queuedFrames === 0;
  }

  /** The browser has ever said what it played, and something is being played now. */
  expectsReports(nowMs: number): boolean {
    return this.#reports && this.leadMs(nowMs) > 0;
  }

  isUrgent(nowMs: number): boolean {
    if (this.#block.generation !== this.#generation) return true;
    return this.#block.downlink.queuedFrames > 0 && this.leadMs(nowMs) < FRAME_MS;
  }

  service(nowMs: number, isConnected: boolean): void {
    if (!Number.isNaN(this.#awaitingUntilMs)) {
      if (nowMs < this.#awaitingUntilMs && isConnected) return;
      this.#finishClear(nowMs);
    }
    if (this.#block.generation !== this.#generation) this.#applyGeneration(nowMs, isConnected);
    if (!Number.isNaN(this.#awaitingUntilMs)) return;
    this.#settlePlayed(nowMs);
    if (isConnected) this.#sendFrames(nowMs);
  }

  /** The browser says how much of an utterance it has played. */
  position(utterance: number, playedMs: number, nowMs: number): void {
    const known = utterance > this.#utterance - KNOWN_UTTERANCES && utterance <= this.#utterance && utterance > 0;
    if (!known) return;
    const slot = utterance % KNOWN_UTTERANCES;
    const endMs = utterance === this.#utterance ? this.#sentMs : this.#endsAtMs[slot]!;
    const atMs = Math.min(this.#startsMs[slot]! + playedMs, endMs);
    this.#reports = true;
    this.#reportedAtMs = nowMs;
    this.#reportedMs = Math.max(this.#reportedMs, atMs);
    this.#anchorMs = atMs;
    this.#anchorAtMs = nowMs;
    if (!this.#spurtReported && atMs > this.#spurtMs) {
      this.#spurtReported = true;
      const delayMs = nowMs - this.#spurtAtMs - (atMs - this.#spurtMs);
      this.#startDelayMs = Math.min(Math.max(0, delayMs), MOST_START_DELAY_MS);
    }
    if (!this.#heardTold && utterance === this.#utterance && playedMs > 0) {
      this.#heardTold = true;
      this.#options.events.heard(this.#turn, Math.max(0, nowMs - playedMs - this.#firstSentAtMs));
    }
    if (!Number.isNaN(this.#awaitingUntilMs) && utterance === this.#utterance) this.#finishClear(nowMs);
  }

  /**
   * Another pipeline thread goes on with the call; what is at the browser plays on, but counts for no one's playhead.
   */
  rebind(block: CallBlock): void {
    this.#block = block;
    this.#generation = 0;
    for (let at = this.#head; at < this.#tail; at++) this.#seqs[at % this.#capacity] = 0;
  }

  /** The session stood still for so long. */
  shift(byMs: number): void {
    this.#streamStartedAtMs += byMs;
  }

  finish(nowMs: number): void {
    this.#settlePlayed(nowMs);
    this.droppedFrames += this.#tail - this.#head;
    this.#head = this.#tail;
  }

  #estimateMs(nowMs: number): number {
    let ms = this.#anchorMs + Math.max(0, nowMs - this.#anchorAtMs);
    if (this.#reports) {
      if (nowMs - Math.max(this.#reportedAtMs, this.#spurtAtMs) > REPORTS_FORGOTTEN_MS) this.#reports = false;
      else ms = Math.min(ms, Math.max(this.#reportedMs, this.#spurtMs) + BELIEVE_CLOCK_MS);
    }
    return Math.min(ms, this.#sentMs);
  }

  #settlePlayed(nowMs: number): void {
    const nowAtMs = this.#estimateMs(nowMs);
    while (this.#head < this.#tail) {
      const slot = this.#head % this.#capacity;
      const endMs = this.#endsMs[slot]!;
      if (endMs > nowAtMs) return;
      if (this.#seqs[slot]! > 0) this.#block.playedSeq = this.#seqs[slot]!;
      this.#head++;
      if (this.#lengths[slot] === 0) continue;
      this.playedFrames++;
      this.#recordFrame(slot, nowMs - this.#streamStartedAtMs - (nowAtMs - endMs) - FRAME_MS);
    }
  }

  #recordFrame(slot: number, streamMs: number): void {
    const { record } = this.#options;
    const tap = this.#tap;
    if ((record === null && tap === null) || this.#head <= this.#keptFrom) return;
    const atMs = Math.max(streamMs, this.#recordedUntilMs);
    this.#recordedUntilMs = atMs + FRAME_MS;
    const start = slot * this.#frameBytes;
    const lengthBytes = this.#lengths[slot]!;
    record?.tryWrite(this.#bytes, start, lengthBytes, PLAYED, this.playedFrames, Math.round(atMs));
    if (tap !== null) tap.frame(PLAYED, this.#bytes, start, lengthBytes, Math.round(atMs));
  }

  #applyGeneration(nowMs: number, isConnected: boolean): void {
    this.#generation = this.#block.generation;
    if (!this.#isOpen && this.leadMs(nowMs) <= 0) {
      this.#finishClear(nowMs);
      return;
    }
    // Not settled by the clock now: the browser is about to say.
    this.#isOpen = false;
    this.#options.events.cleared(this.#utterance);
    if (isConnected && this.#reports) this.#awaitingUntilMs = nowMs + LAST_WORD_MS;
    else this.#finishClear(nowMs);
  }

  /** What was not played by now never will be. */
  #finishClear(nowMs: number): void {
    this.#awaitingUntilMs = Number.NaN;
    this.#settlePlayed(nowMs);
    this.droppedFrames += this.#tail - this.#head;
    this.#head = this.#tail;
    this.#endsAtMs[this.#utterance % KNOWN_UTTERANCES] = this.#sentMs;
    this.#reportedMs = this.#sentMs;
    this.#anchorMs = this.#sentMs;
    this.#anchorAtMs = nowMs;
    this.#block.appliedGeneration = this.#generation;
  }

  #sendFrames(nowMs: number): void {
    const ring = this.#block.downlink;
    while (this.#tail - this.#head < this.#capacity && ring.peek()) {
      const age = ring.generation - this.#generation;
      if (age !== 0) {
        // A newer one waits for its clear, at the next service.
        if (age > 0) return;
        ring.release();
        if (ring.lengthBytes > 0) this.droppedFrames++;
        continue;
      }
      if (ring.lengthBytes === 0) {
        this.#mark(ring.atMs);
        ring.release();
        continue;
      }
      const leadMs = this.leadMs(nowMs);
      if (leadMs > this.#options.bufferMs - FRAME_MS) return;
      if (!this.#isOpen) this.#begin(0, 0);
      const wasSent = this.#options.line.sound(ring.bytes, ring.payloadStart, ring.lengthBytes);
      this.#count(ring, wasSent, leadMs, nowMs);
      ring.release();
      // Too slow: as fast as it would be played, and no faster.
      if (!wasSent) return;
    }
  }

  #mark(what: number): void {
    if (!isEndMark(what)) {
      this.#begin(turnOfMark(what), goesOn(what) ? this.#utterance : 0);
      return;
    }
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#endsAtMs[this.#utterance % KNOWN_UTTERANCES] = this.#sentMs;
    const audioMs = this.#sentMs - this.#startsMs[this.#utterance % KNOWN_UTTERANCES]!;
    this.#options.events.utteranceEnded(this.#utterance, this.#turn, audioMs);
  }

  #begin(turn: number, resumes: number): void {
    this.#endsAtMs[this.#utterance % KNOWN_UTTERANCES] = this.#sentMs;
    this.#utterance++;
    this.#turn = turn;
    this.#isOpen = true;
    this.#heardTold = false;
    this.#firstSentAtMs = Number.NaN;
    this.#startsMs[this.#utterance % KNOWN_UTTERANCES] = this.#sentMs;
    this.#options.events.utteranceStarted(this.#utterance, turn, resumes);
  }

  #count(ring: FrameRing, wasSent: boolean, leadMs: number, nowMs: number): void {
    const slot = this.#tail % this.#capacity;
    if (wasSent) {
      if (leadMs <= 0) this.#beginSpurt(nowMs);
      this.#sentMs += FRAME_MS;
      if (this.firstSentMs < 0) this.firstSentMs = nowMs - this.#streamStartedAtMs;
      if (Number.isNaN(this.#firstSentAtMs)) this.#firstSentAtMs = nowMs;
      if (this.#bytes.length > 0) {
        const to = slot * this.#frameBytes;
        for (let i = 0; i < ring.lengthBytes; i++) this.#bytes[to + i] = ring.bytes[ring.payloadStart + i]!;
      }
    } else this.skippedFrames++;
    this.#seqs[slot] = ring.frameSeq;
    this.#lengths[slot] = wasSent ? ring.lengthBytes : 0;
    this.#endsMs[slot] = this.#sentMs;
    this.#tail++;
    this.#block.sentSeq = ring.frameSeq;
  }

  #beginSpurt(nowMs: number): void {
    const dryMs = nowMs - this.#anchorAtMs - (this.#sentMs - this.#anchorMs);
    const isFirst = Number.isNaN(this.#firstSentAtMs);
    if (!isFirst && dryMs > 0 && dryMs < LONGEST_UNDERRUN_MS) {
      for (let missedMs = 0; missedMs < dryMs; missedMs += FRAME_MS) this.#block.addUnderrun();
    }
    this.#spurtMs = this.#sentMs;
    this.#spurtAtMs = nowMs;
    this.#spurtReported = false;
    this.#anchorMs = this.#sentMs;
    this.#anchorAtMs = nowMs + this.#startDelayMs;
  }
}
