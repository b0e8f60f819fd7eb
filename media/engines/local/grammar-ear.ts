/**
 * The local recogniser as the ear of a call: it hears one turn at a time, by a grammar of the phrases that were hinted
 * when the turn began. Made once a call by the pipeline thread, over the STT thread's client.
 */
import type { CallEar, EarFactory, EarHints, EarListener, EarTraits } from '../../contract/ear.ts';
import type { RecognitionStream, SpeechToText } from '../../contract/engines.ts';

export function grammarEarOf(speechToText: SpeechToText): EarFactory {
  return (listener) => new GrammarEar(speechToText, listener);
}

class GrammarEar implements CallEar {
  readonly traits: EarTraits;
  readonly #speechToText: SpeechToText;
  readonly #listener: EarListener;
  #phrases: readonly string[] = [];
  /** Of the turn that is under way. */
  #stream: RecognitionStream | null = null;
  #isClosed = false;

  constructor(speechToText: SpeechToText, listener: EarListener) {
    this.#speechToText = speechToText;
    this.#listener = listener;
    const rateHz = speechToText.inputRateHz;
    this.traits = {
      rateHz,
      codec: 'pcm_s16le',
      hears: 'turns',
      tellsTurns: false,
      tellsWordTimes: false,
      tellsConfidence: false,
    };
  }

  /** A grammar is compiled when a turn begins: it holds from the next one on. */
  hint({ phrases }: EarHints): void {
    this.#phrases = phrases;
  }

  push(monoSamples: Int16Array): void {
    this.#stream?.push(monoSamples);
  }

  turnBegan(turn: number): void {
    this.turnDropped();
    if (this.#isClosed) return;
    this.#stream = this.#speechToText.open(
      { phrases: this.#phrases },
      (result) => this.#listener.words({ ...result, turn }),
      (error) => this.#listener.failed(turn, error),
    );
  }

  mayBeOver(): void {
    this.#stream?.conclude();
  }

  wentOn(): void {
    this.#stream?.goOn();
  }

  turnOver(): void {
    this.#stream?.finish();
  }

  turnDropped(): void {
    this.#stream?.cancel();
    this.#stream = null;
  }

  close(): void {
    this.#isClosed = true;
    this.turnDropped();
  }
}
