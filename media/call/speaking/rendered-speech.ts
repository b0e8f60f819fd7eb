/**
 * One utterance as audio in the leg's own codec, with its word table: append-only while it is being made, readable all
 * the time. The renderer, an audio feed or the greeting cache fills it, any number of speakers play from it; whole
 * frames stay where they are, so that a speaker can send again from any place.
 */
import { FRAME_MS, frameBytesOf, type LegFormat, silenceByteOf } from '../../contract/audio-format.ts';
import { LONGEST_FEED_MS } from '../../contract/speech-source.ts';
import type { SpokenWord } from './word-table.ts';

const FIRST_ROOM_BYTES = 32 * 1024;
/** Kept after the last word's end, so that nothing is clipped. */
const TAIL_MS = 60;

export class RenderedSpeech {
  /** Grows where it is made of a feed. */
  text: string;
  readonly format: LegFormat;
  readonly frameBytes: number;
  readonly words: SpokenWord[] = [];
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(FIRST_ROOM_BYTES);
  /** Whole 20 ms frames ready to be played. */
  frames = 0;
  /** No more frames will come. */
  complete = false;
  /** Why no more will come, if that is not what was wanted. */
  error: Error | null = null;
  /** `Clock.nowMs` at which its first words were handed to a voice, and its first sound came; NaN before, or never. */
  askedAtMs = Number.NaN;
  voicedAtMs = Number.NaN;
  /** Whose its first sound is, by the place in `SpeechChunk.voice`. */
  voice = 0;
  /** The player asks for audio up to so many ms; set by whoever makes it piece by piece. */
  want: ((throughMs: number) => void) | null = null;
  /** The player will not need the rest. Not set where others may still play it. */
  abandon: (() => void) | null = null;
  /** There is more text; set by whoever tells of it. Never together with other changes. */
  onText: (() => void) | null = null;
  #usedBytes = 0;
  readonly #listeners = new Set<() => void>();

  constructor(text: string, format: LegFormat) {
    this.text = text;
    this.format = format;
    this.frameBytes = frameBytesOf(format);
  }

  /** Audio so far, ms, the part of a frame too. */
  get durationMs(): number {
    return (this.#usedBytes / this.frameBytes) * FRAME_MS;
  }

  /** `listener` runs after each change: new frames, complete, failed. Returns a function that takes it away. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Of a feed: all that it has given so far. */
  grow(text: string): void {
    this.text = text;
    this.onText?.();
  }

  /** Where a frame lies in `bytes`. */
  offsetOf(frame: number): number {
    return frame * this.frameBytes;
  }

  /** Room for `lengthBytes` more at the returned place in `bytes`; -1 when the utterance has become too long. */
  reserve(lengthBytes: number): number {
    const needed = this.#usedBytes + lengthBytes;
    if ((needed / this.frameBytes) * FRAME_MS > LONGEST_FEED_MS) return -1;
    // One frame more, so that the last can be padded in place.
    if (needed + this.frameBytes > this.bytes.length) {
      const grown = new Uint8Array(Math.max(this.bytes.length * 2, needed + this.frameBytes));
      grown.set(this.bytes.subarray(0, this.#usedBytes));
      this.bytes = grown;
    }
    return this.#usedBytes;
  }

  /** The reserved bytes are written. */
  advance(lengthBytes: number): void {
    this.#usedBytes += lengthBytes;
    this.frames = Math.floor(this.#usedBytes / this.frameBytes);
    this.#changed();
  }

  /**
   * All audio is in: pads the last frame, and drops silence after the last word, unless it is no silence (`isWhole`).
   */
  finish(isWhole = false): void {
    if (this.complete) return;
    const partBytes = this.#usedBytes % this.frameBytes;
    if (partBytes > 0) {
      this.reserve(0);
      this.bytes.fill(silenceByteOf(this.format), this.#usedBytes, this.#usedBytes + this.frameBytes - partBytes);
      this.#usedBytes += this.frameBytes - partBytes;
    }
    const lastWord = this.words.at(-1);
    const framesNeeded =
      lastWord === undefined || isWhole ? Number.POSITIVE_INFINITY : Math.ceil((lastWord.endMs + TAIL_MS) / FRAME_MS);
    this.frames = Math.min(Math.floor(this.#usedBytes / this.frameBytes), framesNeeded);
    this.complete = true;
    this.#changed();
  }

  fail(error: Error): void {
    if (this.complete) return;
    this.error = error;
    this.complete = true;
    this.#changed();
  }

  /** End, in the text, of the last word that was heard to its end before `playheadMs`. */
  heardChars(playheadMs: number): number {
    let charEnd = 0;
    for (let i = 0; i < this.words.length && this.words[i]!.endMs <= playheadMs; i++) charEnd = this.words[i]!.charEnd;
    return charEnd;
  }

  heardText(playheadMs: number): string {
    return this.text.slice(0, this.heardChars(playheadMs));
  }

  /** End, in the text, of the last word that had begun to be heard at `playheadMs`. */
  begunChars(playheadMs: number): number {
    let charEnd = 0;
    for (let i = 0; i < this.words.length && this.words[i]!.startMs < playheadMs; i++) charEnd = this.words[i]!.charEnd;
    return charEnd;
  }

  /** The text from the word on that was cut at `playheadMs`. */
  restText(playheadMs: number): string {
    for (const word of this.words) if (word.endMs > playheadMs) return this.text.slice(word.charStart);
    return this.complete && this.error === null ? '' : this.text.slice(this.words.at(-1)?.charEnd ?? 0);
  }

  /** The frame at which to go on so that the word that was cut at `playheadMs` is said whole. */
  resumeFrame(playheadMs: number): number {
    for (const word of this.words) {
      if (word.endMs > playheadMs) return word === this.words[0] ? 0 : Math.floor(word.startMs / FRAME_MS);
    }
    return Math.floor(playheadMs / FRAME_MS);
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
