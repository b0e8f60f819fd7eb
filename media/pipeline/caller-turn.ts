/**
 * One turn of the caller, from its first sound to its meaning: the recogniser's stream and what has come out of it. Made by the
 * conversation when a turn begins; results that come after `close` are dropped.
 */
import type { Grammar, Recognition, RecognitionStream, SpeechToText } from '../contract/engines.ts';

export interface CallerTurnListener {
  partial(turn: CallerTurn): void;
  /** Once: by the recogniser, by its failure, or by `settle`. */
  final(turn: CallerTurn): void;
  recogniserFailed(error: Error): void;
}

export class CallerTurn {
  /** Audio time of the first and of the last sound. */
  readonly onsetMs: number;
  lastSpeechEndMs: number;
  /** The agent was, or began, speaking during it. */
  duringSpeech: boolean;
  /** The agent was cut off for it. */
  cutAgent = false;
  /** What was heard so far; the final text once `done`. */
  text = '';
  rejected = false;
  done = false;
  failed = false;
  /** Stream time of the decision that it is over; NaN before. */
  decidedAtMs = Number.NaN;
  /** Clock time by which the final result must be there. */
  finalByMs = Number.POSITIVE_INFINITY;
  readonly #listener: CallerTurnListener;
  #stream: RecognitionStream | null = null;

  constructor(onsetMs: number, duringSpeech: boolean, listener: CallerTurnListener) {
    this.onsetMs = onsetMs;
    this.lastSpeechEndMs = onsetMs;
    this.duringSpeech = duringSpeech;
    this.#listener = listener;
  }

  get spokenMs(): number {
    return this.lastSpeechEndMs - this.onsetMs;
  }

  listen(speechToText: SpeechToText, grammar: Grammar): void {
    this.#stream = speechToText.open(
      grammar,
      (result) => this.#result(result),
      (error) => {
        if (this.done) return;
        this.failed = true;
        this.rejected = true;
        this.text = '';
        this.#listener.recogniserFailed(error);
        this.#finish();
      },
    );
  }

  push(monoSamples: Int16Array): void {
    this.#stream?.push(monoSamples);
  }

  /** No more sound: the final result is on its way. */
  finish(): void {
    this.#stream?.finish();
  }

  /** The final result is not waited for: the last partial counts. */
  settle(): void {
    if (this.done) return;
    this.#stream?.cancel();
    this.#finish();
  }

  /** Nobody wants the result. */
  close(): void {
    if (this.done) return;
    this.done = true;
    this.#stream?.cancel();
  }

  #result(result: Recognition): void {
    if (this.done) return;
    const changed = result.text !== this.text || result.rejected !== this.rejected;
    this.text = result.rejected ? '' : result.text;
    this.rejected = result.rejected;
    if (result.final) this.#finish();
    else if (changed) this.#listener.partial(this);
  }

  #finish(): void {
    this.done = true;
    this.#listener.final(this);
  }
}
