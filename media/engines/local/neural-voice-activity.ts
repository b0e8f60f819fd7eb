/**
 * `VoiceActivity` of two steps: the gate decides "surely silent" at once, and only what is left is scored by the neural
 * model on another thread, 32 ms at a time. A frame's answer is the gate's and the newest verdict's together, so a
 * verdict counts one or two frames after its sound. Frames that come in a burst (a network made up for a pause) come
 * faster than they can be judged: a sound that was no voice for a while still is none there. Where no verdict is to be
 * had (the sound just began, the other thread is behind, or gone) the gate alone decides: it errs towards speech. Made
 * by `voice-activity-scoring.ts`, one a call; blocks nothing and allocates nothing per frame.
 */
import { FRAME_MS } from '../../contract/audio-format.ts';
import type { Clock } from '../../contract/clock.ts';
import type { VoiceActivity } from '../../contract/engines.ts';
import { contextSamplesOf, type VoiceActivityWindows, windowSamplesOf } from './voice-activity-windows.ts';

/** Probability at which sound becomes a voice, and below which it ceases to be one. */
const SPEECH_FROM = 0.5;
const SPEECH_UNTIL = 0.35;
/** Windows go on being scored so long into silence: the model's memory then spans the pauses between words. */
const SCORE_ON_FRAMES = 10;
/** After so much silence what the last sound was says nothing about the next. */
const FORGET_FRAMES = 25;
/** More windows behind than this, and the verdict is of another sound: at once, or after a time if it is settled. */
const MOST_PENDING = 2;
const LATE_AFTER_MS = 100;
/**
 * So many verdicts in a row (160 ms) say of a sound that it is no voice: the first ones of a word say so too, and those
 * of the pause before it.
 */
const SETTLED_VERDICTS = 5;

export class NeuralVoiceActivity implements VoiceActivity {
  readonly #gate: VoiceActivity;
  readonly #windows: VoiceActivityWindows;
  readonly #frameSamples: number;
  readonly #contextSamples: number;
  readonly #input: Int16Array;
  readonly #clock: Pick<Clock, 'nowMs'>;
  /** -1: no slot was free, or closed. */
  #slot: number;
  #filled: number;
  #silentFrames = FORGET_FRAMES;
  #wasWritten = false;
  #seen = 0;
  /** Since when more are pending than may be; -1: they are not. */
  #behindSinceMs = -1;
  #hasVerdict = false;
  #isSpeech = false;
  /** Verdicts in a row that heard no voice. */
  #noVoiceVerdicts = 0;
  #isClosed = false;

  /** Closes `gate` when it is closed. */
  constructor(gate: VoiceActivity, windows: VoiceActivityWindows, rateHz: number, clock: Pick<Clock, 'nowMs'>) {
    this.#gate = gate;
    this.#clock = clock;
    this.#windows = windows;
    this.#frameSamples = (rateHz * FRAME_MS) / 1000;
    this.#contextSamples = contextSamplesOf(rateHz);
    this.#input = new Int16Array(this.#contextSamples + windowSamplesOf(rateHz));
    this.#filled = this.#contextSamples;
    this.#slot = windows.open();
    this.#forget();
  }

  /** False for a frame of another length than 20 ms, and after `close`. */
  isSpeech(monoSamples: Int16Array): boolean {
    if (this.#isClosed || monoSamples.length !== this.#frameSamples) return false;
    const mayBeSpeech = this.#gate.isSpeech(monoSamples);
    if (mayBeSpeech) this.#silentFrames = 0;
    else if (++this.#silentFrames === FORGET_FRAMES) this.#forget();
    if (this.#slot < 0) return mayBeSpeech;
    this.#collect(monoSamples);
    if (!mayBeSpeech) return false;
    this.#lookForVerdict();
    return !this.#hasVerdict || this.#isSpeech || this.#isLate();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#gate.close();
    if (this.#slot >= 0) this.#windows.close(this.#slot);
    this.#slot = -1;
  }

  /** Verdicts of what was written until now, those to come too, are of another sound. */
  #forget(): void {
    this.#hasVerdict = false;
    this.#noVoiceVerdicts = 0;
    if (this.#slot >= 0) this.#seen = (this.#windows.scored(this.#slot) + this.#windows.pending(this.#slot)) | 0;
  }

  #collect(monoSamples: Int16Array): void {
    const input = this.#input;
    for (let i = 0; i < monoSamples.length; i++) {
      input[this.#filled++] = monoSamples[i]!;
      if (this.#filled < input.length) continue;
      this.#wasWritten =
        this.#silentFrames <= SCORE_ON_FRAMES && this.#windows.write(this.#slot, input, !this.#wasWritten);
      input.copyWithin(0, input.length - this.#contextSamples);
      this.#filled = this.#contextSamples;
      if (this.#windows.pending(this.#slot) <= MOST_PENDING) this.#behindSinceMs = -1;
      else if (this.#behindSinceMs < 0) this.#behindSinceMs = this.#clock.nowMs();
    }
  }

  #isLate(): boolean {
    if (this.#windows.pending(this.#slot) <= MOST_PENDING) return false;
    if (this.#noVoiceVerdicts < SETTLED_VERDICTS) return true;
    return this.#clock.nowMs() - this.#behindSinceMs >= LATE_AFTER_MS;
  }

  #lookForVerdict(): void {
    const ahead = (this.#windows.scored(this.#slot) - this.#seen) | 0;
    if (ahead <= 0) return;
    this.#seen = (this.#seen + ahead) | 0;
    this.#isSpeech = this.#windows.score(this.#slot) >= (this.#isSpeech ? SPEECH_UNTIL : SPEECH_FROM);
    this.#noVoiceVerdicts = this.#isSpeech ? 0 : this.#noVoiceVerdicts + 1;
    this.#hasVerdict = true;
  }
}
