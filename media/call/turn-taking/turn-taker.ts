/**
 * When the caller's turn begins and ends. Pure, on audio time (ms of stream of the frames themselves, never their
 * arrival), so a burst of late frames gives the same turns as a steady flow. The call session feeds frames and what the
 * recogniser makes of them, and acts on the listener's calls.
 *
 *   quiet ──60 ms of speech──► speaking ──200 ms of silence──► pausing ──patience──► turn over ──► quiet
 *                                 ▲────────── speech ─────────────┘
 *
 * After 600 ms of silence the listener is told that the turn may be over, so that its meaning is known when it is.
 * Sound that stirs when patience runs out gets 100 ms to become speech. The longest pause is counted from the last
 * sound (`sound-detector.ts`), as the caller counts it, shorter ones from the last speech.
 *
 * A turn also ends when the audio stops coming (the session says so after 1 s), when silence lasts 5 s whatever was
 * asked, and when the gate is stuck open: a whole answer that no longer changes, or 20 s of unbroken sound.
 */

import { LONGEST_PAUSE_MS, type Patience } from '../../contract/agent.ts';
import { FRAME_MS } from '../../contract/audio-format.ts';
import { GATE_CLOSED, GATE_OPENED, SpeechGate, WINDOW_MS } from './speech-gate.ts';

export type TurnEnd = 'patience' | 'hard_stop' | 'stuck_gate' | 'audio_stopped';

export interface TurnListener {
  /** A turn begins; `onsetMs` is the start of its first sound. */
  turnStarted(onsetMs: number): void;
  /** Sound goes on after a pause in the same turn. */
  speechResumed(onsetMs: number): void;
  speechPaused(lastSpeechEndMs: number): void;
  /** Once in each pause that is long enough to be the end. */
  mayBeOver(): void;
  turnEnded(why: TurnEnd, lastSpeechEndMs: number): void;
}

const HARD_STOP_MS = 5_000;
const LONGEST_SOUND_MS = 20_000;
const STUCK_ANSWER_MS = 1_500;
/**
 * Shorter than the pauses of a sentence would have it asked in each of them, later than this the answer would be late.
 */
const MAY_BE_OVER_MS = 600;
/**
 * The last sound is at most so far from the last speech: beyond, it is no fading word, or the
 * gate heard what is hard to hear.
 */
const FADING_MS = 100;
/** Three frames: sound in one of them stirs. */
const STIRRING_MASK = 0b111;

export class TurnTaker {
  /** May change at any time, in the middle of a turn too. */
  patience: Patience;
  turnOpen = false;
  /** Start of the turn's first sound. */
  turnOnsetMs = 0;
  /** End of the newest frame. */
  nowMs = 0;
  readonly #listener: TurnListener;
  readonly #gate = new SpeechGate();
  #soundEndMs = 0;
  #recentSound = 0;
  #answered = false;
  #answerSinceMs = 0;
  #askedInPause = false;
  #concludedAnswer = false;

  constructor(listener: TurnListener, patience: Patience) {
    this.#listener = listener;
    this.patience = patience;
  }

  /** Sound right now (with the gate's hang-over). */
  get speaking(): boolean {
    return this.#gate.open;
  }

  /** End of the caller's last sound. */
  get lastSpeechEndMs(): number {
    return this.#gate.lastSpeechEndMs;
  }

  /** Length of the turn so far, from its first sound to its last. */
  get spokenMs(): number {
    return this.#gate.lastSpeechEndMs - this.turnOnsetMs;
  }

  /** When the open turn's patience runs out, if the silence goes on. */
  get patientUntilMs(): number {
    const limitMs = this.#limitMs();
    return this.#silentSinceMs(limitMs) + limitMs;
  }

  /** One 20 ms frame; `atMs` is the audio time of its first sample; `sounds`: it holds sound, of speech or not. */
  push(atMs: number, isSpeech: boolean, sounds: boolean): void {
    this.nowMs = atMs + FRAME_MS;
    const change = this.#gate.push(atMs, isSpeech);
    this.#recentSound = ((this.#recentSound << 1) | (sounds ? 1 : 0)) & STIRRING_MASK;
    if (sounds && this.nowMs - this.#gate.lastSpeechEndMs <= FADING_MS) this.#soundEndMs = this.nowMs;
    if (change === GATE_OPENED) {
      this.#askedInPause = false;
      this.#concludedAnswer = false;
      if (this.turnOpen) {
        this.#listener.speechResumed(this.#gate.onsetMs);
      } else {
        this.turnOpen = true;
        this.turnOnsetMs = this.#gate.onsetMs;
        this.#answered = false;
        this.#listener.turnStarted(this.#gate.onsetMs);
      }
    } else if (change === GATE_CLOSED) {
      this.#listener.speechPaused(this.#gate.lastSpeechEndMs);
    }
    if (this.turnOpen) this.#judge();
  }

  /** The recogniser's partial changed; `isAnswer`: it already fits a phrase wholly. */
  partialChanged(isAnswer: boolean): void {
    this.#answered = isAnswer;
    this.#answerSinceMs = this.nowMs;
  }

  /**
   * What the turn means if this pause is its end; `isAnswer` as above. Known too late to end it sooner than any other.
   */
  concluded(isAnswer: boolean): void {
    this.#concludedAnswer = isAnswer;
  }

  /** No audio has come for so long that the caller's frames cannot just be late. */
  audioStopped(): void {
    if (!this.turnOpen) return;
    if (this.#gate.open) {
      this.#gate.shut(Number.NEGATIVE_INFINITY);
      this.#listener.speechPaused(this.#gate.lastSpeechEndMs);
    }
    if (this.turnOpen) this.#end('audio_stopped');
  }

  /**
   * The turn is settled otherwise: forget it. Sound that goes on must pause, or last another second, to begin a new
   * one, and counts as silence until then.
   */
  abandon(): void {
    if (!this.turnOpen) return;
    this.turnOpen = false;
    if (!this.#gate.open) return;
    this.#gate.shut(this.nowMs);
    this.#listener.speechPaused(this.#gate.lastSpeechEndMs);
  }

  #judge(): void {
    if (this.#gate.open) {
      const answerIsStale =
        this.#answered && this.nowMs - this.#answerSinceMs >= Math.max(STUCK_ANSWER_MS, this.patience.maxMs);
      if (answerIsStale || this.nowMs - this.#gate.onsetMs >= LONGEST_SOUND_MS) {
        this.#gate.shut(this.nowMs);
        this.#listener.speechPaused(this.#gate.lastSpeechEndMs);
        if (this.turnOpen) this.#end('stuck_gate');
      }
      return;
    }
    const silenceMs = this.nowMs - this.#gate.lastSpeechEndMs;
    const limitMs = this.#limitMs();
    const waitedMs = this.nowMs - this.#silentSinceMs(limitMs);
    const stirs = this.#gate.stirs || (limitMs >= LONGEST_PAUSE_MS && this.#recentSound !== 0);
    if (waitedMs >= limitMs && !(stirs && waitedMs < limitMs + WINDOW_MS)) this.#end('patience');
    else if (silenceMs >= HARD_STOP_MS) this.#end('hard_stop');
    else if (silenceMs >= MAY_BE_OVER_MS && !this.#askedInPause && !this.#gate.stirs) {
      this.#askedInPause = true;
      this.#listener.mayBeOver();
    }
  }

  #silentSinceMs(limitMs: number): number {
    const { lastSpeechEndMs } = this.#gate;
    return limitMs < LONGEST_PAUSE_MS ? lastSpeechEndMs : Math.max(this.#soundEndMs, lastSpeechEndMs - FADING_MS);
  }

  #limitMs(): number {
    const { minMs, maxMs } = this.patience;
    if (this.#answered) return minMs;
    return this.#concludedAnswer ? Math.min(maxMs, Math.max(minMs, LONGEST_PAUSE_MS)) : maxMs;
  }

  #end(why: TurnEnd): void {
    this.turnOpen = false;
    this.#listener.turnEnded(why, this.#gate.lastSpeechEndMs);
  }
}
