/**
 * Shared memory between a pipeline thread and the thread that scores the voice activity of its calls: a slot a call,
 * four windows deep.
 *
 *   Int32 open slots │ slot: Int32 open, written, scored, – │ … │ Float32 score a slot │ …
 *   window: Int32 isFirst, Float32 samples │ …
 *
 * A window is 32 ms of audio behind the last 4 ms of the window before it, as the model wants it. `written` and
 * `scored` only rise, whoever has the slot, so that what is left of an earlier call is never taken for the next one's.
 * Used by `neural-voice-activity.ts` (writer) and `window-scorer.ts` (reader); no allocation after construction.
 */

const DEPTH = 4;
const SLOT_WORDS = 4;
const OPEN = 0;
const WRITTEN = 1;
const SCORED = 2;

export interface WindowShape {
  slots: number;
  rateHz: 8000 | 16000;
}

/** Samples of a window that are new: 32 ms. */
export function windowSamplesOf(rateHz: number): number {
  return (rateHz * 32) / 1000;
}

/** Samples repeated from the window before: 4 ms. */
export function contextSamplesOf(rateHz: number): number {
  return (rateHz * 4) / 1000;
}

export class VoiceActivityWindows {
  readonly memory: SharedArrayBuffer;
  readonly slots: number;
  /** Samples of one window, context included: 288 at 8 kHz. */
  readonly inputSamples: number;
  readonly #words: Int32Array;
  readonly #scores: Float32Array;
  readonly #firsts: Int32Array;
  readonly #samples: Float32Array;

  /** Attaches when `memory` is given; its shape must be the same. */
  constructor({ slots, rateHz }: WindowShape, memory?: SharedArrayBuffer) {
    this.slots = slots;
    this.inputSamples = contextSamplesOf(rateHz) + windowSamplesOf(rateHz);
    const words = SLOT_WORDS * (slots + 1);
    const windows = slots * DEPTH;
    this.memory = memory ?? new SharedArrayBuffer(4 * (words + slots + windows + windows * this.inputSamples));
    this.#words = new Int32Array(this.memory, 0, words);
    this.#scores = new Float32Array(this.memory, 4 * words, slots);
    this.#firsts = new Int32Array(this.memory, 4 * (words + slots), windows);
    this.#samples = new Float32Array(this.memory, 4 * (words + slots + windows), windows * this.inputSamples);
  }

  /** Writer: a free slot, or -1. */
  open(): number {
    for (let slot = 0; slot < this.slots; slot++) {
      if (this.#words[SLOT_WORDS * (slot + 1) + OPEN] !== 0) continue;
      this.#words[SLOT_WORDS * (slot + 1) + OPEN] = 1;
      Atomics.add(this.#words, 0, 1);
      return slot;
    }
    return -1;
  }

  /** Writer: nobody waits for what is not scored yet. */
  close(slot: number): void {
    this.#words[SLOT_WORDS * (slot + 1) + OPEN] = 0;
    Atomics.sub(this.#words, 0, 1);
  }

  /** Windows that were written and are not scored. */
  pending(slot: number): number {
    const at = SLOT_WORDS * (slot + 1);
    return (Atomics.load(this.#words, at + WRITTEN) - Atomics.load(this.#words, at + SCORED)) | 0;
  }

  /** Windows scored in this slot since the memory was made. */
  scored(slot: number): number {
    return Atomics.load(this.#words, SLOT_WORDS * (slot + 1) + SCORED);
  }

  /** Probability of speech in the window scored last, 0–1. */
  score(slot: number): number {
    return this.#scores[slot]!;
  }

  /**
   * Writer: copies `inputSamples` samples of 16 bits, scaled to ±1. `isFirst`: the window before it was not written,
   * the model begins anew. False when the other side is four windows behind.
   */
  write(slot: number, samples: Int16Array, isFirst: boolean): boolean {
    if (this.pending(slot) >= DEPTH) return false;
    const at = SLOT_WORDS * (slot + 1) + WRITTEN;
    const window = this.#windowOf(slot, this.#words[at]!);
    this.#firsts[window] = isFirst ? 1 : 0;
    const start = window * this.inputSamples;
    for (let i = 0; i < this.inputSamples; i++) this.#samples[start + i] = samples[i]! / 32768;
    Atomics.add(this.#words, at, 1);
    return true;
  }

  /**
   * Reader: copies the oldest window that is not scored to `input` from `inputStart`; returns
   * whether it is a first one.
   */
  read(slot: number, input: Float32Array, inputStart: number): boolean {
    const window = this.#windowOf(slot, this.#words[SLOT_WORDS * (slot + 1) + SCORED]!);
    const start = window * this.inputSamples;
    for (let i = 0; i < this.inputSamples; i++) input[inputStart + i] = this.#samples[start + i]!;
    return this.#firsts[window] === 1;
  }

  /** Reader: the oldest window has this score. */
  settle(slot: number, score: number): void {
    this.#scores[slot] = score;
    Atomics.add(this.#words, SLOT_WORDS * (slot + 1) + SCORED, 1);
  }

  /** Reader: calls that may write. */
  get openSlots(): number {
    return Atomics.load(this.#words, 0);
  }

  #windowOf(slot: number, count: number): number {
    return slot * DEPTH + ((count >>> 0) % DEPTH);
  }
}
