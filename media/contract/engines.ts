/**
 * Ports of the engines (pipeline side). Each implementation passes the port's conformance suite, the emulated ones too.
 */

export interface SpeechChunk {
  /** Mono PCM at the engine's `outputRateHz`; with `mulawBytes` at 8 kHz. */
  samples: Int16Array;
  /**
   * The part of the text that these samples speak: of an engine that tells word times, what begins in them. Empty in
   * each chunk of a request: the engine does not know, the words share the request's sound.
   */
  text: string;
  /** The same sound, byte for sample, where `SpeechRequest.takesMulaw`: it goes out as it is. */
  mulawBytes?: Uint8Array;
  /** Of an engine that tells word times: words whose end is known now, in order. */
  words?: readonly ChunkWord[];
  /** Of several voices as one: the place of who speaks, 0 the preferred. Absent: there is only one. */
  voice?: number;
}

/** A word of the request's text and when it sounds. */
export interface ChunkWord {
  /** Range in `SpeechRequest.text`, with its punctuation. */
  charStart: number;
  charEnd: number;
  /** From the first sample of its chunk; negative where it began in a chunk before. */
  startMs: number;
  endMs: number;
}

export interface TextToSpeech {
  readonly outputRateHz: number;
  /** Their names; empty: those of the provider, which knows them. */
  readonly voices: readonly string[];
  /**
   * Speaks `text`, a sentence at a time; `onChunk` is called in order as sound is made. Resolves after the last chunk.
   * Rejects with an `AbortError` when `signal` fires (no chunk comes after that), or with a `VoiceError`.
   */
  synthesize(request: SpeechRequest, onChunk: (chunk: SpeechChunk) => void): Promise<void>;
}

export interface SpeechRequest {
  text: string;
  voice: string;
  signal: AbortSignal;
  /** The leg speaks mu-law at 8 kHz: an engine that makes it may give `SpeechChunk.mulawBytes`. */
  takesMulaw?: boolean;
  /** Nobody waits for it yet: an engine that has a queue serves those first who do. */
  ahead?: boolean;
  /**
   * The same text in every call: an engine may remember how it sounds. Anything else may hold a name and is forgotten
   * when it was said.
   */
  isFixed?: boolean;
  /** Called now and then while the engine is at work for others: it lives, and this request has its turn to come. */
  onQueued?: () => void;
}

/** What the recogniser listens for in one step: phrases of words and the classes `<digits>` and `<name>`. */
export interface Grammar {
  phrases: readonly string[];
  /**
   * True: key phrases, looked for inside longer speech; `text` is then the phrase that was found. Absent: the utterance
   * is one of the phrases or is rejected.
   */
  anywhere?: boolean;
}

export interface Guess {
  text: string;
  confidence: number;
}

export interface Recognition {
  /** Lower-case words; empty when nothing was heard. Digits are words here (`four two`). */
  text: string;
  /** Speech that fits no phrase: never forced into one. `text` is then empty. */
  rejected: boolean;
  final: boolean;
  /**
   * Of rejected speech: what it would have been taken for, had it had to be something, and how sure that is, 0 to 1.
   * For people only.
   */
  guess?: Guess;
  /** Answers `conclude`: what the final would be, were the utterance over. */
  concluded?: true;
}

/** One utterance of the caller. `push` after `finish` or `cancel` is ignored. */
export interface RecognitionStream {
  push(monoSamples: Int16Array): void;
  /**
   * The caller has paused, perhaps for good: a `concluded` result is wanted, and what is pushed from here on waits.
   * None comes where an utterance has grown too long to be heard twice; `finish` works as ever.
   */
  conclude(): void;
  /** It was a pause only: hears on, as though it had not been asked. */
  goOn(): void;
  /** No more audio: the final result comes by `onResult`. */
  finish(): void;
  cancel(): void;
}

export interface SpeechToText {
  readonly inputRateHz: number;
  /** `onResult` gets partials as they change, then exactly one final; `onError` at most once, instead of the final. */
  open(grammar: Grammar, onResult: (result: Recognition) => void, onError: (error: Error) => void): RecognitionStream;
}

/** Decides frame by frame; one instance a call. */
export interface VoiceActivity {
  /** `monoSamples` is one 20 ms frame at the rate given at creation. */
  isSpeech(monoSamples: Int16Array): boolean;
  close(): void;
}
