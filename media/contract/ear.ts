/**
 * The recogniser of one call (pipeline side). It is there from the call's first frame to its last and is told where the
 * call takes the caller's turns to begin and end; one that can tell turns of its own says so in its traits. Each
 * implementation passes the port's conformance suite.
 */
import type { Guess } from './engines.ts';

/** What a recogniser may be told of what to expect. */
export interface EarHints {
  /**
   * Words and the classes `<digits>` and `<name>`. To a recogniser of a fixed grammar all that it can hear; to others a
   * hint.
   */
  phrases: readonly string[];
  /** Anything may be said: `phrases` are words to look out for. A recogniser of a fixed grammar cannot do that. */
  isOpen?: boolean;
}

/** What an ear is given: samples, or a telephone's leg as it came. */
export type EarCodec = 'pcm_s16le' | 'mulaw';

export interface EarTraits {
  rateHz: number;
  /** `mulaw`: it hears everything, at 8 kHz, and is given frames by `pushMulaw`. */
  codec: EarCodec;
  /**
   * `turns`: it is given frames from 500 ms before a turn to its end. `everything`: each frame of the call, silence
   * too; such an ear knows all words, so that sound in which it hears none does not interrupt.
   */
  hears: 'turns' | 'everything';
  /** It ends turns of its own, by `final` words that nobody asked for, and may begin them. */
  tellsTurns: boolean;
  tellsWordTimes: boolean;
  tellsConfidence: boolean;
}

export interface HeardWord {
  /** As the recogniser writes it: some write capitals and marks. */
  text: string;
  /** Audio time. */
  startMs: number;
  endMs: number;
}

/** What was made of a turn so far: always the whole of it. */
export interface EarWords {
  /** As `EarTurns.began` gave it; words of a turn that is over are ignored. */
  turn: number;
  /** Lower-case words without marks; empty when nothing was heard. */
  text: string;
  /** Speech that it will not call words. `text` is then empty. */
  rejected: boolean;
  /** No more will come of this turn. */
  final: boolean;
  /**
   * Answers `mayBeOver`: what the final would be, were the turn over. An ear that tells turns says so unasked too, when
   * it is nearly sure of the end; words without it take that back.
   */
  concluded?: true;
  /** Of a final: told in time, and not all of it was heard by then. What comes later is a turn of its own. */
  isLate?: true;
  /** Of rejected speech, for people only. */
  guess?: Guess;
  words?: readonly HeardWord[];
  /** 0 to 1. */
  confidence?: number;
}

export interface EarListener {
  words(words: EarWords): void;
  /**
   * The caller speaks since `onsetMs`, audio time: of an ear that tells turns, or of words that came after their turn
   * was over. Ignored in a turn.
   */
  speechBegan?(onsetMs: number): void;
  /** No final comes for this turn. The next one is heard again, unless the ear says so of it too. */
  failed(turn: number, error: Error): void;
  /** Nothing will be heard any more, of this turn or another. Once, as soon as it is known. */
  deaf?(error: Error): void;
}

export interface CallEar {
  readonly traits: EarTraits;
  /** Holds from the next turn on, and from now on where the ear can change its mind in a turn. */
  hint(hints: EarHints): void;
  /**
   * One 20 ms frame at `rateHz`; `atMs` is the audio time of its first sample. The array is overwritten later: copy
   * what is kept.
   */
  push(monoSamples: Int16Array, atMs: number): void;
  /** The same 20 ms as bytes of the leg, silence where none came. In place of `push`, where `traits.codec` says so. */
  pushMulaw?(mulawBytes: Uint8Array, atMs: number): void;
  /** A turn of the caller begins, by this number; what went before is over. */
  turnBegan(turn: number, onsetMs: number): void;
  /** A pause that may be the turn's end: a `concluded` result is wanted, and what is pushed from here on waits. */
  mayBeOver(): void;
  /** It was a pause only. */
  wentOn(): void;
  /** No more of this turn will be pushed: its final is wanted. */
  turnOver(): void;
  /** Nobody wants anything more of this turn. */
  turnDropped(): void;
  close(): void;
}

/** Made once a call. */
export type EarFactory = (listener: EarListener) => CallEar;
