/**
 * The neural voice activity of one pipeline thread: asks for scoring with the first call that wants it, gives each such
 * call its `NeuralVoiceActivity`, and tells the calls when there is no scoring (packages missing, scoring thread dead):
 * they go on with the gate alone. The pipeline thread makes one; the scoring thread belongs to the media process
 * (`media/io/threads/scoring-host.ts`).
 */
import type { Clock } from '../../contract/clock.ts';
import type { VoiceActivity } from '../../contract/engines.ts';
import { NeuralVoiceActivity } from './neural-voice-activity.ts';
import { VoiceActivityWindows, type WindowShape } from './voice-activity-windows.ts';

/** Calls of one thread that are scored at once; more have the gate alone. */
const SLOTS = 512;

export interface VoiceActivityScoringOptions {
  gate: (rateHz: number) => VoiceActivity;
  rateHz: 8000 | 16000;
  clock: Pick<Clock, 'nowMs'>;
  /** Asked once: have this memory's windows scored from now on. */
  attach(shape: WindowShape, memory: SharedArrayBuffer): void;
}

export class VoiceActivityScoring {
  readonly #options: VoiceActivityScoringOptions;
  readonly #listeners = new Set<(why: string) => void>();
  #windows: VoiceActivityWindows | null = null;
  #failedBecause = '';

  constructor(options: VoiceActivityScoringOptions) {
    this.#options = options;
  }

  /** A call that wants it is about to come: the model loads meanwhile. */
  warm(): void {
    this.#attached();
  }

  /** `unavailable` is called at most once, at once or later: from then on the gate alone decides. */
  create(unavailable: (why: string) => void): VoiceActivity {
    const { gate, rateHz, clock } = this.#options;
    if (this.#failedBecause !== '') {
      unavailable(this.#failedBecause);
      return gate(rateHz);
    }
    const neural = new NeuralVoiceActivity(gate(rateHz), this.#attached(), rateHz, clock);
    this.#listeners.add(unavailable);
    return {
      isSpeech: (monoSamples) => neural.isSpeech(monoSamples),
      close: () => {
        this.#listeners.delete(unavailable);
        neural.close();
      },
    };
  }

  /** There is no scoring, and will be none as long as the process lives. */
  failed(why: string): void {
    if (this.#failedBecause !== '') return;
    this.#failedBecause = why;
    for (const tell of this.#listeners) tell(why);
    this.#listeners.clear();
  }

  #attached(): VoiceActivityWindows {
    if (this.#windows === null) {
      const shape = { slots: SLOTS, rateHz: this.#options.rateHz };
      this.#windows = new VoiceActivityWindows(shape);
      this.#options.attach(shape, this.#windows.memory);
    }
    return this.#windows;
  }
}
