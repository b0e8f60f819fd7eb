/**
 * Puts the frames of both directions of one call on one time line: caller left, agent right, interleaved in the leg's own codec.
 * Called by the recorder for each frame; hands on whole seconds, in order, once nothing earlier can still come. It knows no files,
 * allocates nothing per frame and never lets one channel move the other.
 *
 *   handed on │ window: 6 s of interleaved samples, silence where nothing was placed │ not yet
 *             └ firstSample
 *
 * A frame belongs where its `atMs` says, but a frame less than 40 ms from the end of its predecessor is joined to it: that
 * is the clock of a sender that jitters, not a gap (RFC 3550 receivers do the same). What stood in its place is overwritten.
 */
import { type LegFormat, silenceByteOf } from '../contract/audio-format.ts';

export const BLOCK_MS = 1000;
const WINDOW_BLOCKS = 6;
/** How far behind the newest frame of either direction a frame may still come and find its place: the ring is 2 s deep, a socket may stall. */
export const SETTLE_MS = 4000;
const JITTER_MS = 40;
/** Sound that sticks out beyond the stated end of the stream by less than this is jitter too, and is cut. */
const OVERHANG_MS = 100;

export interface TimelineCounters {
  placedFrames: number;
  /** Came after their place was handed on; lost. */
  lateFrames: number;
  /** Lay further ahead than the caller of `place` allowed; lost. */
  implausibleFrames: number;
  /** Gaps of 40 ms or more within one direction, start and end of the call not counted. */
  gaps: number;
}

/** Gets `lengthBytes` of interleaved sound from the start of `bytes`, valid until it returns. */
export type OnBlock = (bytes: Uint8Array, lengthBytes: number) => void;

export class Timeline {
  readonly counters: TimelineCounters = { placedFrames: 0, lateFrames: 0, implausibleFrames: 0, gaps: 0 };
  readonly #onBlock: OnBlock;
  readonly #samplesPerMs: number;
  readonly #sampleBytes: number;
  readonly #silence: number;
  readonly #blockSamples: number;
  readonly #windowSamples: number;
  readonly #jitterSamples: number;
  readonly #window: Uint8Array;
  /** By direction: where the next frame is expected; -1 before the first. */
  readonly #nextSample = [-1, -1];
  #firstSample: number;
  #newestSample: number;

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
    this.#firstSample = firstSample;
    this.#newestSample = firstSample;
  }

  /** End of the newest sound of either direction, ms of stream. */
  get newestMs(): number {
    return this.#newestSample / this.#samplesPerMs;
  }

  /**
   * Places one frame of `direction` (`RECEIVED` 0 left, `PLAYED` 1 right). Hands on what must leave the window to make room for
   * it, so `onBlock` may run within. A frame that begins after `notAfterMs` is refused and counted.
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
    while (end > this.#firstSample + this.#windowSamples) this.#handOn(this.#blockSamples);
    if (end > this.#newestSample) this.#newestSample = end;
    this.#copy(direction, bytes, start + skipped * this.#sampleBytes, samples - skipped, at + skipped);
    this.counters.placedFrames++;
  }

  /** Hands on every whole second that ends `SETTLE_MS` before the newest frame, or before `untilMs`, whichever is later. */
  settle(untilMs: number): void {
    const horizon = Math.max(this.#newestSample - SETTLE_MS * this.#samplesPerMs, untilMs * this.#samplesPerMs);
    while (this.#firstSample + this.#blockSamples <= horizon) this.#handOn(this.#blockSamples);
  }

  /**
   * Hands on all that is left, padded with silence to `durationMs` of stream. Sound beyond it is kept, unless it is less
   * than 100 ms. Returns the length of the whole time line in samples. Nothing may be placed after it.
   */
  finish(durationMs: number): number {
    const stated = Math.round(durationMs * this.#samplesPerMs);
    const overhang = this.#newestSample - stated;
    const total = Math.max(
      this.#firstSample,
      overhang >= OVERHANG_MS * this.#samplesPerMs ? this.#newestSample : stated,
    );
    while (this.#firstSample < total) this.#handOn(Math.min(this.#blockSamples, total - this.#firstSample));
    return total;
  }

  #copy(direction: number, bytes: Uint8Array, start: number, samples: number, atSample: number): void {
    const window = this.#window;
    const sampleBytes = this.#sampleBytes;
    let to = ((atSample - this.#firstSample) * 2 + direction) * sampleBytes;
    if (sampleBytes === 1) {
      for (let i = 0; i < samples; i++, to += 2) window[to] = bytes[start + i]!;
      return;
    }
    for (let from = start; from < start + samples * 2; from += 2, to += 4) {
      window[to] = bytes[from]!;
      window[to + 1] = bytes[from + 1]!;
    }
  }

  #handOn(samples: number): void {
    const lengthBytes = samples * this.#sampleBytes * 2;
    this.#onBlock(this.#window, lengthBytes);
    this.#window.copyWithin(0, lengthBytes);
    this.#window.fill(this.#silence, this.#window.length - lengthBytes);
    this.#firstSample += samples;
  }
}
