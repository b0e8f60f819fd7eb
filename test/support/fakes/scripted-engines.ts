/**
 * Scripted fakes of the engine ports, for a virtual clock. `implements` makes them fail to compile when a port grows.
 * Voice: each word is 200 ms of a steady level, one chunk a request, after a set latency. Ear: what it makes of the
 * caller's next turns is set beforehand. Voice activity: any frame with a sample over 1,000.
 */
import type { Clock } from '../../../media/contract/clock.ts';
import type {
  Grammar,
  Recognition,
  RecognitionStream,
  SpeechChunk,
  SpeechToText,
  TextToSpeech,
  VoiceActivity,
} from '../../../media/contract/engines.ts';

export const FAKE_WORD_MS = 200;

export class FakeTextToSpeech implements TextToSpeech {
  readonly outputRateHz = 8000;
  readonly voices = ['fake'];
  readonly requests: { text: string; voice: string; aborted: boolean }[] = [];
  latencyMs = 80;
  /** Errors for the next requests, in turn; null speaks. */
  failures: (Error | null)[] = [];
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  synthesize(
    request: { text: string; voice: string; signal: AbortSignal },
    onChunk: (chunk: SpeechChunk) => void,
  ): Promise<void> {
    const entry = { text: request.text, voice: request.voice, aborted: false };
    this.requests.push(entry);
    const failure = this.failures.shift() ?? null;
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(this.latencyMs, () => {
        request.signal.removeEventListener('abort', abort);
        if (failure !== null) return reject(failure);
        const words = request.text.split(/\s+/).length;
        const samples = new Int16Array((words * FAKE_WORD_MS * this.outputRateHz) / 1000).fill(8_000);
        onChunk({ samples, text: request.text });
        resolve();
      });
      const abort = () => {
        entry.aborted = true;
        cancel();
        reject(new DOMException('aborted', 'AbortError'));
      };
      request.signal.addEventListener('abort', abort);
    });
  }
}

export interface HeardTurn {
  /** Partial results by ms of audio pushed, the 500 ms before the turn counted too. */
  partials?: { afterMs: number; text?: string; rejected?: boolean }[];
  /**
   * The final result; `text` empty and not rejected: nothing was heard. `error`: the recogniser fails instead. `never`:
   * it gives none.
   */
  final: {
    text?: string;
    rejected?: boolean;
    guess?: { text: string; confidence: number };
    error?: Error;
    never?: boolean;
    /** The final comes so long after it was asked for, and no conclusion before. */
    afterMs?: number;
  };
}

export class FakeSpeechToText implements SpeechToText {
  readonly inputRateHz: number;
  /** What the next turns are heard as, in turn; a turn beyond is heard as nothing. */
  turns: HeardTurn[] = [];
  readonly grammars: (readonly string[])[] = [];
  readonly streams: FakeRecognition[] = [];

  readonly #clock: Clock | null;

  /** With a clock finals may be late. */
  constructor(inputRateHz = 8000, clock: Clock | null = null) {
    this.inputRateHz = inputRateHz;
    this.#clock = clock;
  }

  open(grammar: Grammar, onResult: (result: Recognition) => void, onError: (error: Error) => void): RecognitionStream {
    this.grammars.push(grammar.phrases);
    const heard = this.turns.shift() ?? { final: {} };
    const stream = new FakeRecognition(heard, this.inputRateHz, onResult, onError, this.#clock);
    this.streams.push(stream);
    return stream;
  }
}

export class FakeRecognition implements RecognitionStream {
  pushedMs = 0;
  finished = false;
  cancelled = false;
  /** How often it was asked what the turn would mean, and told that it goes on. */
  conclusions = 0;
  goneOn = 0;
  /** The caller's turn is over. */
  get over(): boolean {
    return this.finished || this.cancelled;
  }

  readonly #heard: HeardTurn;
  readonly #rateHz: number;
  readonly #onResult: (result: Recognition) => void;
  readonly #onError: (error: Error) => void;
  readonly #clock: Clock | null;
  #nextPartial = 0;

  constructor(
    heard: HeardTurn,
    rateHz: number,
    onResult: (result: Recognition) => void,
    onError: (error: Error) => void,
    clock: Clock | null,
  ) {
    this.#clock = clock;
    this.#heard = heard;
    this.#rateHz = rateHz;
    this.#onResult = onResult;
    this.#onError = onError;
  }

  push(monoSamples: Int16Array): void {
    if (this.finished || this.cancelled) return;
    this.pushedMs += (monoSamples.length * 1000) / this.#rateHz;
    const next = this.#heard.partials?.[this.#nextPartial];
    if (next === undefined || this.pushedMs < next.afterMs) return;
    this.#nextPartial++;
    this.#onResult({ text: next.text ?? '', rejected: next.rejected ?? false, final: false });
  }

  conclude(): void {
    if (this.finished || this.cancelled) return;
    this.conclusions++;
    const { error, never, afterMs } = this.#heard.final;
    if (never !== true && afterMs === undefined && error === undefined)
      this.#onResult({ ...this.#result(), final: false, concluded: true });
  }

  goOn(): void {
    this.goneOn++;
  }

  finish(): void {
    if (this.finished || this.cancelled) return;
    this.finished = true;
    const { error, never, afterMs } = this.#heard.final;
    if (never === true) return;
    if (afterMs !== undefined) {
      this.#clock!.after(afterMs, () => this.cancelled || this.#onResult({ ...this.#result(), final: true }));
    } else if (error !== undefined) this.#onError(error);
    else this.#onResult({ ...this.#result(), final: true });
  }

  #result(): Omit<Recognition, 'final'> {
    const { text = '', rejected = false, guess } = this.#heard.final;
    return guess === undefined ? { text, rejected } : { text, rejected, guess };
  }

  cancel(): void {
    this.cancelled = true;
  }
}

export class FakeVoiceActivity implements VoiceActivity {
  closed = false;

  isSpeech(monoSamples: Int16Array): boolean {
    for (let i = 0; i < monoSamples.length; i++) if (Math.abs(monoSamples[i]!) > 1_000) return true;
    return false;
  }

  close(): void {
    this.closed = true;
  }
}
