/**
 * Scores the windows of all calls of one thread in batches: one window of each call that has one, at most 64 in one run
 * of the model. Each call's recurrent state is kept here. Runs in the voice-activity thread (in tests: anywhere); the
 * model is given.
 */
import type { VoiceActivityWindows } from './voice-activity-windows.ts';

/** A model that scores `batch` windows at once. */
export interface WindowModel {
  /**
   * `input` is `[batch, inputSamples]`, `state` `[2, batch, STATE_SIZE]`, both longer than that or as long. The results
   * are read before the next run.
   */
  run(input: Float32Array, state: Float32Array, batch: number): Promise<{ scores: Float32Array; state: Float32Array }>;
}

/** Numbers in each of the two layers of a call's state. */
export const STATE_SIZE = 128;
const MOST_IN_A_BATCH = 64;

export class WindowScorer {
  runs = 0;
  scoredWindows = 0;
  readonly #windows: VoiceActivityWindows;
  readonly #model: WindowModel;
  readonly #states: Float32Array;
  readonly #input: Float32Array;
  readonly #state = new Float32Array(2 * MOST_IN_A_BATCH * STATE_SIZE);
  readonly #batch = new Int32Array(MOST_IN_A_BATCH);
  #next = 0;

  constructor(windows: VoiceActivityWindows, model: WindowModel) {
    this.#windows = windows;
    this.#model = model;
    this.#states = new Float32Array(windows.slots * 2 * STATE_SIZE);
    this.#input = new Float32Array(MOST_IN_A_BATCH * windows.inputSamples);
  }

  /** Until nothing is pending. */
  async scoreAll(): Promise<void> {
    while (await this.scoreBatch()) {
      // Windows that came meanwhile are in the next batch.
    }
  }

  /** False when nothing was pending. */
  async scoreBatch(): Promise<boolean> {
    const windows = this.#windows;
    const batch = this.#batch;
    let size = 0;
    for (let looked = 0; looked < windows.slots && size < MOST_IN_A_BATCH; looked++) {
      const slot = this.#next;
      this.#next = (slot + 1) % windows.slots;
      if (windows.pending(slot) > 0) batch[size++] = slot;
    }
    if (size === 0) return false;
    for (let i = 0; i < size; i++) {
      const slot = batch[i]!;
      const from = slot * 2 * STATE_SIZE;
      if (windows.read(slot, this.#input, i * windows.inputSamples)) this.#states.fill(0, from, from + 2 * STATE_SIZE);
      this.#copyState(this.#states, from, STATE_SIZE, this.#state, i * STATE_SIZE, size * STATE_SIZE);
    }
    const { scores, state } = await this.#model.run(this.#input, this.#state, size);
    for (let i = 0; i < size; i++) {
      const slot = batch[i]!;
      this.#copyState(state, i * STATE_SIZE, size * STATE_SIZE, this.#states, slot * 2 * STATE_SIZE, STATE_SIZE);
      windows.settle(slot, scores[i]!);
    }
    this.runs++;
    this.scoredWindows += size;
    return true;
  }

  /** Both layers; a stride is the distance from one to the other. */
  #copyState(
    source: Float32Array,
    sourceStart: number,
    sourceStride: number,
    target: Float32Array,
    targetStart: number,
    targetStride: number,
  ): void {
    for (let i = 0; i < STATE_SIZE; i++) {
      target[targetStart + i] = source[sourceStart + i]!;
      target[targetStart + targetStride + i] = source[sourceStart + sourceStride + i]!;
    }
  }
}
