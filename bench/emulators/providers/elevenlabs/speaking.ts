/**
 * Speaks the generations of one context of the emulated ElevenLabs, in order: each is made in pieces of a sentence, and
 * a piece leaves in chunks, the first so long after the text was there, the others faster than they sound. What is
 * cancelled leaves no more.
 */
import { sentencePieces } from '../../../../media/engines/local/sentence-pieces.ts';
import type { Timetable } from '../timetable.ts';
import type { EmulatedVoice, Speech } from '../voice/emulated-voice.ts';
import { bytesPerMs, type SoundFormat } from '../voice/sound-format.ts';
import { alignmentOf, type DurationsKey, givenText, normalizedText } from './alignment.ts';

export interface Latencies {
  /** From the text (or the flush) that makes a generation to its first sound. */
  firstAudioMs: number;
  /** Of sound in one message. */
  chunkMs: number;
  /** Between messages of one piece. */
  chunkEveryMs: number;
  /** From the end of a context's sound, or its cancellation, to `isFinal`. */
  finalMs: number;
  /** From an error, or the end, to the close of the socket. */
  closeAfterMs: number;
}

export const DEFAULT_LATENCIES: Latencies = {
  firstAudioMs: 120,
  chunkMs: 200,
  chunkEveryMs: 20,
  finalMs: 5,
  closeAfterMs: 800,
};

export interface SpeakingOptions {
  voice: EmulatedVoice;
  /** Flite's. */
  voiceName: string;
  format: SoundFormat;
  speed: number;
  /** Each message has the times of its own sound; else the first of a piece has those of the whole piece. */
  isAlignmentSynced: boolean;
  durationsKey: DurationsKey;
  latencies: Latencies;
}

export interface SpokenChunk {
  audio: Buffer;
  alignment: object | null;
  normalizedAlignment: object | null;
}

interface Generation {
  /** It goes on when its context is closed. */
  isFlushed: boolean;
  isCancelled: boolean;
}

export class Speaking {
  readonly #options: SpeakingOptions;
  readonly #timetable: Timetable;
  readonly #onChunk: (chunk: SpokenChunk) => void;
  readonly #onError: (error: Error) => void;
  readonly #generations = new Set<Generation>();
  #last: Promise<void> = Promise.resolve();
  /** When the next chunk may leave, after those that have. */
  #freeAtMs = 0;

  constructor(
    timetable: Timetable,
    options: SpeakingOptions,
    onChunk: (chunk: SpokenChunk) => void,
    onError: (error: Error) => void,
  ) {
    this.#timetable = timetable;
    this.#options = options;
    this.#onChunk = onChunk;
    this.#onError = onError;
  }

  speak(text: string): void {
    const generation: Generation = { isFlushed: false, isCancelled: false };
    const dueAtMs = this.#timetable.nowMs() + this.#options.latencies.firstAudioMs;
    this.#generations.add(generation);
    // A generation ends with a space, whether it was sent or not.
    const pieces = sentencePieces(/\s$/.test(text) ? text : `${text} `);
    const { voice, voiceName, speed, format } = this.#options;
    const speeches = pieces.map((piece) => voice.speak({ text: piece.text, voice: voiceName, speed, format }));
    // Each is awaited in its turn; one that fails before that is no unhandled rejection.
    for (const speech of speeches) speech.catch(() => {});
    this.#last = this.#last.then(async () => {
      try {
        for (const [index, speech] of speeches.entries()) {
          const made = await speech;
          if (!generation.isCancelled) await this.#send(pieces[index]!.text, made, generation, dueAtMs);
        }
      } catch (error) {
        this.#onError(error as Error);
      } finally {
        this.#generations.delete(generation);
      }
    });
  }

  /** What was asked for until now is spoken, whatever becomes of its context. */
  keepAll(): void {
    for (const generation of this.#generations) generation.isFlushed = true;
  }

  /** What is not spoken yet and was not flushed leaves no more. */
  cancelUnflushed(): void {
    for (const generation of this.#generations) if (!generation.isFlushed) generation.isCancelled = true;
  }

  cancelAll(): void {
    for (const generation of this.#generations) generation.isCancelled = true;
  }

  /** Runs when all that was asked for until now has left or was cancelled. */
  whenDone(run: () => void): void {
    void this.#last.then(run);
  }

  /** Resolves when the last chunk of the piece has left. */
  #send(text: string, speech: Speech, generation: Generation, dueAtMs: number): Promise<void> {
    const { format, isAlignmentSynced, durationsKey, latencies } = this.#options;
    const perMs = bytesPerMs(format);
    const step = Math.round(latencies.chunkMs * perMs) & ~1;
    const given = givenText(text, speech);
    const normalized = normalizedText(speech);
    const count = Math.max(1, Math.ceil(speech.bytes.length / step));
    if (speech.bytes.length === 0) return Promise.resolve();
    // A piece behind another is due when that has left, not late.
    const firstAtMs = Math.max(dueAtMs, this.#freeAtMs);
    this.#freeAtMs = firstAtMs + count * latencies.chunkEveryMs;
    return new Promise((resolve) => {
      const next = (index: number): void => {
        this.#timetable.at(firstAtMs + index * latencies.chunkEveryMs, () => {
          if (generation.isCancelled) return resolve();
          const isLast = index === count - 1;
          const fromMs = (index * step) / perMs;
          const whole = !isAlignmentSynced;
          const toMs = isLast || whole ? Number.POSITIVE_INFINITY : fromMs + step / perMs;
          const isTold = isAlignmentSynced || index === 0;
          this.#onChunk({
            audio: speech.bytes.subarray(index * step, (index + 1) * step),
            alignment: isTold ? alignmentOf(given, fromMs, toMs, durationsKey) : null,
            normalizedAlignment: isTold ? alignmentOf(normalized, fromMs, toMs, durationsKey) : null,
          });
          if (isLast) resolve();
          else next(index + 1);
        });
      };
      next(0);
    });
  }
}
