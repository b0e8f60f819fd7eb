/**
 * Puts the frames of both directions of one call on one time line: caller left, agent right, interleaved in the leg's
 * own codec. Called by the recorder for each frame; hands on blocks of 400 ms as soon as both directions have passed
 * them, so that little is lost when the process dies. What still comes for a block that was handed on is handed on
 * again with all that follows it. It knows no files, allocates nothing per frame and never lets
 * one channel move the other.
 *
 *   final │ handed on, may be again │ not yet handed on │   window: 6 s of interleaved samples,
 *         └ firstSample             └ handedOnSample    └ newest      silence where nothing was placed
 *
 * A frame belongs where its `atMs` says, but a frame less than 40 ms from the end of its predecessor is joined to it:
 * that is the clock of a sender that jitters, not a gap (RFC 3550 receivers do the same). What
 * stood in its place is overwritten.
 */
import { type LegFormat, silenceByteOf } from '../contract/audio-format.ts';

/** What a death of the process costs at most, beside the two waits below. */
export const BLOCK_MS = 400;
const WINDOW_BLOCKS = 15;
/**
 * How far behind the newest frame of either direction a frame may still come and find its place: the ring is 2 s deep,
 * a socket may stall.
 */
export const SETTLE_MS = 4000;
/** A block waits so long for the direction that lags behind, or is silent. */
const OTHER_DIRECTION_MS = 200;
/**
 * What came late waits so long for more that comes late: a line that lags for ever has little
 * handed on again, and seldom.
 */
const AGAIN_MS = 500;
const JITTER_MS = 40;
/** Sound that sticks out beyond the stated end of the stream by less than this is jitter too, and is cut. */
const OVERHANG_MS = 100;

export interface TimelineCounters {
  placedFrames: number;
  /** Came after their place was final; lost. */
  lateFrames: number;
  /** Lay further ahead than the caller of `place` allowed; lost. */
  implausibleFrames: number;
  /** Gaps of 40 ms or more within one direction, start and end of the call not counted. */
  gaps: number;
}

/**
 * Gets `lengthBytes` of interleaved sound from `start` of `bytes`, valid until it returns, which belong at
 * `firstSample`. Blocks come in order; one that begins before the end of its predecessor takes the place of what was
 * handed on there.
 */
export type OnBlock = (bytes: Uint8Array, start: number, lengthBytes: number, firstSample: number) => void;

export class Timeline {
  readonly counters: TimelineCounters = { placedFrames: 0, lateFrames: 0, implausibleFrames: 0, gaps: 0 };
  readonly #onBlock: OnBlock;
  readonly #samplesPerMs: number;
  readonly #sampleBytes: number;
  readonly #silence: number;
  readonly #blockSamples: number;
  readonly #windowSamples: number;
  readonly #jitterSamples: number;
  /** A ring; blocks lie whole in it. */
  readonly #window: Uint8Array;
  /** Where the time line begins; blocks are counted from here. */
  readonly #originSample: number;
  /** By direction: where the next frame is expected; -1 before the first. */
  readonly #nextSample = [-1, -1];
  #firstSample: number;
  #handedOnSample: number;
  #newestSample: number;
  /** Begin of the first block that has changed since it was handed on; -1: none. */
  #changedSample = -1;
  /** Where the newest sound ended when that was first seen. */
  #changeSeenSample = 0;

  /** `firstSample` is where the time line begins: 0, or the end of what an earlier run has already written. */
  constructor(format: LegFormat, onBlock: OnBlock, firstSample = 0) {
    this.#onBlock = onBlock;
    this.#samplesPerMs = format.rateHz / 1000;
    this.#sampleBytes = format.codec === 'mulaw' ? 1 : 2;
    this.#silence = silenceByteOf(format);
    this.#blockSamples = BLOCK_MS * this.#samplesPerMs;
    this.#windowSamples = WINDOW_BLOCKS * this.#blockSamples;
    this.#jitterSamples = JITTER_MS * this.#samplesPerMs;
    this.#window = new Uint8Array(this.#windowSamples * this.#sampleBytes * 2).fill(this.#silence);
    this.#originSample = firstSample;
    this.#firstSample = firstSample;
    this.#handedOnSample = firstSample;
    this.#newestSample = firstSample;
  }

  /** End of the newest sound of either direction, ms of stream. */
  get newestMs(): number {
    return this.#newestSample / this.#samplesPerMs;
  }

  /**
   * Places one frame of `direction` (`RECEIVED` 0 left, `PLAYED` 1 right). Hands on what must leave the window to make
   * room for it, so `onBlock` may run within. A frame that begins after `notAfterMs` is refused and counted.
   */
  place(
    direction: number,
    bytes: Uint8Array,
    start: number,
    lengthBytes: number,
    atMs: number,
    notAfterMs: number,
  ): void {
    if (atMs > notAfterMs || (direction !== 0 && direction !== 1)) {
      this.counters.implausibleFrames++;
      return;
    }
    const samples = Math.floor(lengthBytes / this.#sampleBytes);
    const expected = this.#nextSample[direction]!;
    let at = Math.round(atMs * this.#samplesPerMs);
    if (expected >= 0) {
      if (Math.abs(at - expected) < this.#jitterSamples) at = expected;
      else if (at > expected) this.counters.gaps++;
    }
    const end = at + samples;
    this.#nextSample[direction] = end;
    const skipped = Math.max(0, this.#firstSample - at);
    if (skipped >= samples) {
      this.counters.lateFrames++;
      return;
    }
    while (end > this.#firstSample + this.#windowSamples) this.#forgetFirst();
    if (end > this.#newestSample) this.#newestSample = end;
    const from = Math.max(at, this.#firstSample);
    if (from < this.#handedOnSample) this.#changed(from);
    const toRingEnd = this.#windowSamples - this.#ringSample(from);
    const first = Math.min(end - from, toRingEnd);
    const skippedBytes = (from - at) * this.#sampleBytes;
    this.#copy(direction, bytes, start + skippedBytes, first, this.#ringSample(from));
    if (first < end - from)
      this.#copy(direction, bytes, start + skippedBytes + first * this.#sampleBytes, end - from - first, 0);
    this.counters.placedFrames++;
  }

  /**
   * Hands on every block that both directions have passed, or one of them 200 ms ago, and all that ends before
   * `untilMs`. Final becomes what lies `SETTLE_MS` behind the newest frame, or before `untilMs`.
   */
  settle(untilMs: number): void {
    const until = untilMs * this.#samplesPerMs;
    const passed = Math.max(
      Math.min(this.#nextSample[0]!, this.#nextSample[1]!),
      this.#newestSample - OTHER_DIRECTION_MS * this.#samplesPerMs,
      until,
    );
    while (this.#handedOnSample + this.#blockSamples <= passed) this.#handOn(this.#blockSamples);
    if (this.#changedSample >= 0 && this.#newestSample - this.#changeSeenSample >= AGAIN_MS * this.#samplesPerMs)
      this.#handOnAgain();
    const horizon = Math.max(this.#newestSample - SETTLE_MS * this.#samplesPerMs, until);
    while (this.#firstSample + this.#blockSamples <= horizon) this.#forgetFirst();
  }

  /**
   * Hands on all that is left, padded with silence to `durationMs` of stream. Sound beyond it is kept, unless it is
   * less than 100 ms. Returns the length of the whole time line in samples. Nothing may be placed after it.
   */
  finish(durationMs: number): number {
    const stated = Math.round(durationMs * this.#samplesPerMs);
    const overhang = this.#newestSample - stated;
    const total = Math.max(
      this.#firstSample,
      overhang >= OVERHANG_MS * this.#samplesPerMs ? this.#newestSample : stated,
    );
    this.#handOnAgain();
    while (this.#handedOnSample < total) this.#handOn(Math.min(this.#blockSamples, total - this.#handedOnSample));
    return total;
  }

  /** `at`: a place in the window's ring, in samples. */
  #copy(direction: number, bytes: Uint8Array, start: number, samples: number, at: number): void {
    const window = this.#window;
    const sampleBytes = this.#sampleBytes;
    let to = (at * 2 + direction) * sampleBytes;
    if (sampleBytes === 1) {
      for (let i = 0; i < samples; i++, to += 2) window[to] = bytes[start + i]!;
      return;
    }
    for (let from = start; from < start + samples * 2; from += 2, to += 4) {
      window[to] = bytes[from]!;
      window[to + 1] = bytes[from + 1]!;
    }
  }

  #ringSample(sample: number): number {
    return (sample - this.#originSample) % this.#windowSamples;
  }

  #changed(sample: number): void {
    const block = sample - ((sample - this.#originSample) % this.#blockSamples);
    if (this.#changedSample < 0) this.#changeSeenSample = this.#newestSample;
    if (this.#changedSample < 0 || block < this.#changedSample) this.#changedSample = block;
  }

  #handOn(samples: number): void {
    while (this.#handedOnSample + samples > this.#firstSample + this.#windowSamples) this.#forgetFirst();
    this.#give(this.#handedOnSample, samples);
    this.#handedOnSample += samples;
  }

  #handOnAgain(): void {
    const from = this.#changedSample;
    if (from < 0) return;
    this.#changedSample = -1;
    for (let at = from; at < this.#handedOnSample; at += this.#blockSamples)
      this.#give(at, Math.min(this.#blockSamples, this.#handedOnSample - at));
  }

  /** `samples` never reach over the end of a block. */
  #give(sample: number, samples: number): void {
    const bytesASample = this.#sampleBytes * 2;
    this.#onBlock(this.#window, this.#ringSample(sample) * bytesASample, samples * bytesASample, sample);
  }

  #forgetFirst(): void {
    if (this.#handedOnSample < this.#firstSample + this.#blockSamples) this.#handOn(this.#blockSamples);
    if (this.#changedSample === this.#firstSample) this.#handOnAgain();
    const bytesASample = this.#sampleBytes * 2;
    const from = this.#ringSample(this.#firstSample) * bytesASample;
    this.#window.fill(this.#silence, from, from + this.#blockSamples * bytesASample);
    this.#firstSample += this.#blockSamples;
  }
}
