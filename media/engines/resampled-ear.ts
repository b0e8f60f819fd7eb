/**
 * An ear whose engine hears another rate than the leg is listened to at: each frame is resampled on its way. Made by
 * `thread-engines.ts`.
 */
import type { Resampler } from '../audio/resampler.ts';
import type { CallEar, EarFactory, EarHints, EarListener, EarTraits } from '../contract/ear.ts';

export function resampledEar(open: EarFactory, resampler: Resampler): EarFactory {
  return (listener) => new ResampledEar(open, resampler, listener);
}

class ResampledEar implements CallEar {
  readonly traits: EarTraits;
  readonly #ear: CallEar;
  readonly #resampler: Resampler;

  constructor(open: EarFactory, resampler: Resampler, listener: EarListener) {
    this.#ear = open(listener);
    this.#resampler = resampler;
    this.traits = { ...this.#ear.traits, rateHz: resampler.fromHz };
  }

  push(monoSamples: Int16Array, atMs: number): void {
    this.#ear.push(this.#resampler.process(monoSamples), atMs);
  }

  hint(hints: EarHints): void {
    this.#ear.hint(hints);
  }

  turnBegan(turn: number, onsetMs: number): void {
    this.#ear.turnBegan(turn, onsetMs);
  }

  mayBeOver(): void {
    this.#ear.mayBeOver();
  }

  wentOn(): void {
    this.#ear.wentOn();
  }

  turnOver(): void {
    this.#ear.turnOver();
  }

  turnDropped(): void {
    this.#ear.turnDropped();
  }

  close(): void {
    this.#ear.close();
    this.#resampler.close();
  }
}
