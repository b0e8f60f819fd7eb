/**
 * The downlink chain's end in the pipeline: plays one `RenderedSpeech` at a time into the call's downlink ring and
 * knows, from the I/O thread's playhead, what the far end has heard of it. The call session calls `pump` on each wake.
 * Frames are copied, never made, here; nothing is allocated per frame.
 *
 *   idle ──say──► speaking ──pause──► settling ──I/O applied the generation──► paused ──resume──► speaking
 *                    └──played to the end──► idle              paused ──cut──► idle
 *
 * Frame numbers rise from 1 for the whole call; a run of them maps onto the utterance's frames, and a new run begins on
 * each resume. No frame is written while the I/O thread has not yet carried out the last generation.
 */
import { FRAME_MS } from '../../contract/audio-format.ts';
import type { Clock } from '../../contract/clock.ts';
import type { CallBlock } from '../../rings/call-block.ts';
import { endMark, MARK_BYTES, startMark } from '../../rings/utterance-mark.ts';
import type { FrameEncoder } from './frame-encoder.ts';
import type { RenderedSpeech } from './rendered-speech.ts';

/** What a leg needs beyond frames as they were rendered; telephone legs need nothing. */
export interface SpeakerOptions {
  /** The leg's codec has a memory. */
  encoder?: FrameEncoder | null;
  /** Marks go into the ring around each utterance; gives the number of the turn that begins. */
  turnNumber?: (() => number) | null;
}

export interface SpeakerListener {
  /** The first frame was handed to the far end. */
  speechStarted(): void;
  /** Played to its end, or as far as it could be made (`speech.error`). */
  speechFinished(): void;
}

/** The ring is kept this full: 240 ms, so that a pipeline thread may stall for as long unheard. */
const LEAD_FRAMES = 12;
/** Audio made ahead of the playhead. */
const RENDER_AHEAD_MS = 5_000;
/** The I/O thread carries a generation out within a tick; a thread that does not in this time never will. */
const SETTLE_WITHIN_MS = 500;
/** All was handed over, yet the playhead stands still: count it as played. */
const PLAYED_WITHIN_MS = 2_000;

export class Speaker {
  speech: RenderedSpeech | null = null;
  /** Stream ms at which the far end began to play the utterance; NaN before. */
  startedAtStreamMs = Number.NaN;
  /** `Clock.nowMs` at which the utterance's first frame was in the ring; NaN before. */
  ringAtMs = Number.NaN;
  /** Stream ms at which the far end fell silent by the last pause. */
  pausedAtStreamMs = 0;
  readonly #call: CallBlock;
  readonly #clock: Clock;
  readonly #ringIo: () => void;
  readonly #listener: SpeakerListener;
  #state: 'idle' | 'speaking' | 'settling' | 'paused' = 'idle';
  #generation: number;
  /** Number of the next frame to be written. */
  #nextSeq: number;
  #runFirstSeq = 0;
  #runFirstFrame = 0;
  #nextFrame = 0;
  #handedOver = false;
  #endMarked = false;
  readonly #encoder: FrameEncoder | null;
  readonly #turnNumber: (() => number) | null;
  #settleByMs = 0;
  #stalledSeq = 0;
  #stalledSinceMs = 0;

  constructor(
    call: CallBlock,
    clock: Clock,
    ringIo: () => void,
    listener: SpeakerListener,
    options: SpeakerOptions = {},
  ) {
    this.#encoder = options.encoder ?? null;
    this.#turnNumber = options.turnNumber ?? null;
    this.#call = call;
    this.#clock = clock;
    this.#ringIo = ringIo;
    this.#listener = listener;
    this.#generation = call.generation;
    this.#nextSeq = call.sentSeq + 1;
    if (call.sentSeq > 0 || call.downlink.queuedFrames > 0) {
      // A thread before this one spoke here: what it left in the ring is void.
      this.#generation = call.raiseGeneration();
      ringIo();
    }
  }

  /** There is something that the caller has not heard to its end. */
  get active(): boolean {
    return this.#state !== 'idle';
  }

  /** The far end has been given audio of this utterance. */
  get audible(): boolean {
    return this.#handedOver && this.active;
  }

  /** Paused, and the playhead is final. */
  get settled(): boolean {
    return this.#state === 'paused';
  }

  /** How much of the utterance the far end has played, ms. */
  get playheadMs(): number {
    return this.#playedFrames() * FRAME_MS;
  }

  get heardChars(): number {
    return this.speech?.heardChars(this.playheadMs) ?? 0;
  }

  get heardText(): string {
    return this.speech?.heardText(this.playheadMs) ?? '';
  }

  /** Speaks where `other` did until now, which says nothing any more: what it left in the ring is void. */
  follow(other: Speaker): void {
    this.#nextSeq = Math.max(this.#nextSeq, other.#nextSeq);
    this.#raiseGeneration();
  }

  /** Begins to speak now. What was being said before is cut without a word to the listener: cut it first. */
  say(speech: RenderedSpeech): void {
    if (this.active) this.cut();
    this.speech = speech;
    this.#state = 'speaking';
    this.startedAtStreamMs = Number.NaN;
    this.ringAtMs = Number.NaN;
    this.#handedOver = false;
    this.#nextFrame = 0;
    this.#beginRun(0);
    this.pump();
  }

  /** Silences the far end within a tick; the place is kept. */
  pause(): void {
    if (this.#state !== 'speaking') return;
    this.#raiseGeneration();
    this.#state = 'settling';
    this.#settleByMs = this.#clock.nowMs() + SETTLE_WITHIN_MS;
  }

  /** Goes on from the start of the word that was cut. Only when `settled`. */
  resume(): void {
    if (this.#state !== 'paused' || this.speech === null) return;
    this.#beginRun(this.speech.resumeFrame(this.playheadMs));
    this.#state = 'speaking';
    this.pump();
  }

  /** Gives the utterance up. Read `heardText` first, and only when `settled` is it final. */
  cut(): void {
    if (this.#state === 'idle') return;
    if (this.#state === 'speaking') this.#raiseGeneration();
    this.#state = 'idle';
    this.speech?.abandon?.();
    this.speech = null;
  }

  /** Moves frames on and looks where the playhead is. Call at least every 40 ms. */
  pump(): void {
    if (this.#state === 'settling') this.#settle();
    if (this.#state !== 'speaking' || this.speech === null) return;
    this.speech.want?.(this.#nextFrame * FRAME_MS + RENDER_AHEAD_MS);
    this.#write(this.speech);
    this.#observe(this.speech);
  }

  #write(speech: RenderedSpeech): void {
    const { downlink } = this.#call;
    if (this.#call.appliedGeneration !== this.#generation) return;
    let room = Math.min(LEAD_FRAMES - downlink.queuedFrames, downlink.freeFrames);
    const isFirst = this.#nextSeq === this.#runFirstSeq;
    let wrote = false;
    if (isFirst && this.#turnNumber !== null && this.#nextFrame < speech.frames) {
      this.#mark(startMark(this.#turnNumber(), this.#nextFrame > 0));
    }
    while (room > 0 && this.#nextFrame < speech.frames) {
      const from = speech.offsetOf(this.#nextFrame);
      const atMs = this.#nextFrame * FRAME_MS;
      if (!this.#writeFrame(speech, from, atMs)) break;
      this.#nextSeq++;
      this.#nextFrame++;
      room--;
      wrote = true;
    }
    if (this.#turnNumber !== null && !this.#endMarked && speech.complete && this.#nextFrame >= speech.frames) {
      this.#endMarked = true;
      if (this.#nextSeq > this.#runFirstSeq) this.#mark(endMark());
    }
    if (!wrote || !isFirst) return;
    if (Number.isNaN(this.ringAtMs)) this.ringAtMs = this.#clock.nowMs();
    this.#ringIo();
  }

  #writeFrame(speech: RenderedSpeech, from: number, atMs: number): boolean {
    const { downlink } = this.#call;
    const encoder = this.#encoder;
    if (encoder === null) {
      return downlink.tryWrite(speech.bytes, from, speech.frameBytes, this.#generation, this.#nextSeq, atMs);
    }
    const packetBytes = encoder.encode(speech.bytes, from);
    return downlink.tryWrite(encoder.packet, 0, packetBytes, this.#generation, this.#nextSeq, atMs);
  }

  /** The ring is never so full that a mark finds no room: frames leave eight slots free. */
  #mark(what: number): void {
    this.#call.downlink.tryWrite(MARK_BYTES, 0, 0, this.#generation, this.#nextSeq, what);
  }

  #observe(speech: RenderedSpeech): void {
    const { sentSeq, playedSeq } = this.#call;
    if (!this.#handedOver && this.#nextSeq > this.#runFirstSeq && sentSeq >= this.#runFirstSeq) {
      this.#handedOver = true;
      this.#listener.speechStarted();
      if (this.#state !== 'speaking') return;
    }
    if (Number.isNaN(this.startedAtStreamMs) && this.#nextSeq > this.#runFirstSeq && playedSeq >= this.#runFirstSeq) {
      this.startedAtStreamMs = Math.max(0, this.#call.streamMs - this.#playedFrames() * FRAME_MS);
    }
    if (!speech.complete || this.#nextFrame < speech.frames) return;
    const lastSeq = this.#nextSeq - 1;
    if (playedSeq < lastSeq && lastSeq >= this.#runFirstSeq && !this.#stalled(sentSeq, playedSeq, lastSeq)) return;
    this.#state = 'idle';
    this.#listener.speechFinished();
  }

  /** Everything is with the far end, but its playhead has not moved for 2 s. */
  #stalled(sentSeq: number, playedSeq: number, lastSeq: number): boolean {
    const nowMs = this.#clock.nowMs();
    if (sentSeq < lastSeq || playedSeq !== this.#stalledSeq) {
      this.#stalledSeq = playedSeq;
      this.#stalledSinceMs = nowMs;
      return false;
    }
    return nowMs - this.#stalledSinceMs >= PLAYED_WITHIN_MS;
  }

  #settle(): void {
    if (this.#call.appliedGeneration !== this.#generation && this.#clock.nowMs() < this.#settleByMs) return;
    this.#state = 'paused';
    this.pausedAtStreamMs = this.#call.streamMs;
  }

  #raiseGeneration(): void {
    this.#generation = this.#call.raiseGeneration();
    this.#ringIo();
  }

  #beginRun(frame: number): void {
    this.#runFirstSeq = this.#nextSeq;
    this.#runFirstFrame = frame;
    this.#nextFrame = frame;
    this.#endMarked = false;
    this.#stalledSeq = 0;
    this.#stalledSinceMs = this.#clock.nowMs();
  }

  #playedFrames(): number {
    const inRun = Math.min(this.#call.playedSeq, this.#nextSeq - 1) - this.#runFirstSeq + 1;
    return this.#runFirstFrame + Math.max(0, inRun);
  }
}
