/**
 * One turn of the caller, from its first sound to its meaning: what the call's ear has made of it so far. Made by the
 * hearing when a turn begins, and by the conversation for typed words; what comes after `close` is dropped.
 */
import type { CallEar, EarWords, HeardWord } from '../../contract/ear.ts';
import type { Guess } from '../../contract/engines.ts';

export interface CallerTurnListener {
  partial(turn: CallerTurn): void;
  /** What it would mean if the pause were its end. */
  concluded(turn: CallerTurn): void;
  /** Once: by the recogniser, by its failure, or by `settle`. */
  final(turn: CallerTurn): void;
  recogniserFailed(error: Error): void;
}

export class CallerTurn {
  /** By which the ear knows it. */
  readonly number: number;
  /** Audio time of the first and of the last sound. */
  readonly onsetMs: number;
  lastSpeechEndMs: number;
  /** The agent was, or began, speaking during it. */
  duringSpeech: boolean;
  /** Of what the agent was saying, what had been heard when the caller began; empty: nothing. */
  into = '';
  /** The agent was cut off for it. */
  cutAgent = false;
  /** What was heard so far; the final text once `done`. */
  text = '';
  rejected = false;
  /** Of what was rejected. */
  guess: Guess | null = null;
  /** From ears that tell them. */
  words: readonly HeardWord[] | undefined;
  confidence: number | undefined;
  done = false;
  failed = false;
  /** The recogniser was asked, at this clock time, what the turn would mean if it were over; NaN: it was not. */
  askedAtMs = Number.NaN;
  /** And has said so. */
  isConcluded = false;
  /** Stream time of the decision that it is over; NaN before. */
  decidedAtMs = Number.NaN;
  /** Clock time by which the final result must be there. */
  finalByMs = Number.POSITIVE_INFINITY;
  readonly #listener: CallerTurnListener;
  /** Null: nobody hears it, it was typed. */
  readonly #ear: CallEar | null;

  constructor(
    number: number,
    onsetMs: number,
    duringSpeech: boolean,
    listener: CallerTurnListener,
    ear: CallEar | null = null,
  ) {
    this.number = number;
    this.#ear = ear;
    this.onsetMs = onsetMs;
    this.lastSpeechEndMs = onsetMs;
    this.duringSpeech = duringSpeech;
    this.#listener = listener;
  }

  get spokenMs(): number {
    return this.lastSpeechEndMs - this.onsetMs;
  }

  /** The ear gives no final. */
  lost(error: Error): void {
    if (this.done) return;
    this.failed = true;
    this.rejected = true;
    this.text = '';
    this.#listener.recogniserFailed(error);
    this.#finish();
  }

  /** A pause that may be the end. */
  conclude(nowMs: number): void {
    if (this.done) return;
    this.askedAtMs = nowMs;
    this.#ear?.mayBeOver();
  }

  /** It was not. */
  goOn(): void {
    if (this.done || Number.isNaN(this.askedAtMs)) return;
    this.askedAtMs = Number.NaN;
    this.isConcluded = false;
    this.#ear?.wentOn();
  }

  /** No more sound: the final result is on its way, or is there already. */
  finish(): void {
    if (this.isConcluded) this.settle();
    else this.#ear?.turnOver();
  }

  /** The final result is not waited for: the last partial counts. */
  settle(): void {
    if (this.done) return;
    this.#ear?.turnDropped();
    this.#finish();
  }

  /**
   * The final result does not come: the last partial counts, and where there is none somebody has spoken all the same.
   */
  giveUp(): void {
    if (!this.done && this.text === '') this.rejected = true;
    this.settle();
  }

  /** Nobody wants the result. */
  close(): void {
    if (this.done) return;
    this.done = true;
    this.#ear?.turnDropped();
  }

  heard(result: EarWords): void {
    if (this.done) return;
    const changed = result.text !== this.text || result.rejected !== this.rejected;
    this.text = result.rejected ? '' : result.text;
    // Somebody has spoken, and it is not known what: into the agent's words that is no reason to stop it.
    const isUnknown = result.isLate === true && result.text === '' && !this.duringSpeech;
    this.rejected = result.rejected || isUnknown;
    this.guess = result.guess ?? null;
    this.words = result.words;
    this.confidence = result.confidence;
    if (result.final) this.#finish();
    else if (result.concluded === true && !Number.isNaN(this.askedAtMs)) this.#conclusion();
    else if (changed) this.#listener.partial(this);
  }

  #conclusion(): void {
    // Of a turn that is over: then the final follows.
    if (!Number.isNaN(this.decidedAtMs)) return;
    this.isConcluded = true;
    this.#listener.concluded(this);
  }

  #finish(): void {
    this.done = true;
    this.#listener.final(this);
  }
}
