/**
 * Where a person's microphone speaks: frames of 20 ms become spurts, each begun with what came shortly before its first
 * sound and over when nothing has sounded for a while. What lies between spurts is not played, so that a lag that the
 * network has made is gone with the next pause. Pure; fed by `takeover.ts`.
 */
import { SoundDetector } from '../turn-taking/sound-detector.ts';

export interface SpurtListener {
  spurtBegan(): void;
  /** The array is kept, not copied. */
  spurtFrame(monoSamples: Int16Array): void;
  spurtOver(): void;
}

/** 100 ms: the soft beginning of a word, and what a network's unsteadiness may use up before it is heard. */
const PRE_ROLL_FRAMES = 5;
/** 700 ms: a breath within a sentence is part of it. */
const HANGOVER_FRAMES = 35;

export class SpurtGate {
  readonly #detector = new SoundDetector();
  readonly #listener: SpurtListener;
  readonly #before: Int16Array[] = [];
  #silentFrames = 0;
  #isOpen = false;

  constructor(listener: SpurtListener) {
    this.#listener = listener;
  }

  /** One frame of 20 ms. */
  push(monoSamples: Int16Array): void {
    const sounds = this.#detector.sounds(monoSamples);
    if (this.#isOpen) {
      this.#listener.spurtFrame(monoSamples);
      this.#silentFrames = sounds ? 0 : this.#silentFrames + 1;
      if (this.#silentFrames >= HANGOVER_FRAMES) this.end();
      return;
    }
    this.#before.push(monoSamples);
    if (!sounds) {
      if (this.#before.length > PRE_ROLL_FRAMES) this.#before.shift();
      return;
    }
    this.#isOpen = true;
    this.#silentFrames = 0;
    this.#listener.spurtBegan();
    for (const frame of this.#before.splice(0)) this.#listener.spurtFrame(frame);
  }

  /** The person speaks no more. */
  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#listener.spurtOver();
  }
}
