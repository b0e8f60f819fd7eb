/**
 * What an agent gives to be said: a text, a text that comes bit by bit, sound that comes bit by bit with the times of
 * its words, or a sound that is repeated. Feeds are append-only, written by the agent and read by the call, on one
 * thread. Pure.
 */

export type SpeechSource =
  /**
   * `clip`: what sounds is a clip that says the text. `isFixed`: the same words in every call. `isOpening`: what
   * `AgentKind.opening` gave.
   */
  | { text: string; clip?: string; isFixed?: boolean; isOpening?: boolean }
  | { feed: TextFeed }
  | { audio: AudioFeed }
  | { loop: SoundLoop };

/** Repeated until the call ends; it has no words and makes no turn. */
export interface SoundLoop {
  /** Mono. A whole number of 20 ms frames. */
  samples: Int16Array;
  rateHz: number;
}

/** A word of a sound: its text with punctuation and the white space before it. */
export interface SpokenText {
  text: string;
  /** From the sound's beginning. */
  startMs: number;
  endMs: number;
}

/** No sane utterance has more characters; what lies beyond is not said. */
export const LONGEST_FEED_CHARS = 20_000;
/** Nor lasts longer. */
export const LONGEST_FEED_MS = 180_000;

abstract class Feed {
  /** No more will come. */
  isFinished = false;
  /** Why no more will come, if that is not what was wanted. */
  error: Error | null = null;
  /** Nobody wants the rest: it was cut, or it was too long. */
  isAbandoned = false;
  /** Runs after each change. One listener: the call. */
  onChange: (() => void) | null = null;
  /**
   * Runs once when nobody wants the rest, in the middle of the call's work: it may stop what makes more of it, and do
   * nothing else.
   */
  onAbandon: (() => void) | null = null;

  finish(): void {
    if (this.isFinished) return;
    this.isFinished = true;
    this.onChange?.();
  }

  fail(error: Error): void {
    if (this.isFinished) return;
    this.error = error;
    this.finish();
  }

  abandon(): void {
    if (this.isAbandoned) return;
    this.isAbandoned = true;
    this.onAbandon?.();
  }
}

/**
 * Text as it comes, from a language model say. What is pushed after `finish`, or after it was abandoned, is dropped.
 */
export class TextFeed extends Feed {
  text = '';

  push(text: string): void {
    if (this.isFinished || this.isAbandoned || text === '') return;
    this.text = (this.text + text).slice(0, LONGEST_FEED_CHARS);
    this.onChange?.();
  }
}

/** Sound as it comes, with its words. Words may come before or after their sound, in their order. */
export class AudioFeed extends Feed {
  readonly rateHz: number;
  /** Not yet taken, by whoever plays it. */
  readonly chunks: Int16Array[] = [];
  readonly words: SpokenText[] = [];
  #samples = 0;
  #chars = 0;

  constructor(rateHz: number) {
    super();
    this.rateHz = rateHz;
  }

  /** The samples are kept, not copied. What is too long ends the feed. */
  push(monoSamples: Int16Array, words: readonly SpokenText[] = []): void {
    if (this.isFinished || this.isAbandoned) return;
    this.#samples += monoSamples.length;
    for (const { text } of words) this.#chars += text.length;
    if (this.#samples > (LONGEST_FEED_MS * this.rateHz) / 1000 || this.#chars > LONGEST_FEED_CHARS) {
      this.finish();
      this.abandon();
      return;
    }
    if (monoSamples.length > 0) this.chunks.push(monoSamples);
    for (const word of words) this.words.push(word);
    this.onChange?.();
  }
}
