/**
 * Deepgram's live recognition (listen v1), as cheap as it can be: tells sound from silence by its loudness and knows
 * what is said by counting. Utterances end after a pause, or at `Finalize`. One object a socket; knows no transport.
 */
import { decodeMulaw } from '../../../media/audio/g711.ts';
import { LATENCIES, LINES, LOUD_SAMPLE } from '../conversation.ts';
import { Schedule } from './schedule.ts';

export interface RecogniserOptions {
  encoding: string;
  rateHz: number;
  /** Tells when speech begins. */
  tellsStarts: boolean;
  requestId: string;
  say(message: object): void;
}

const WINDOW_MS = 20;
/** One loud window may be a click. */
const ONSET_WINDOWS = 2;

const IS_LOUD_MULAW = new Uint8Array(256);
const levels = new Int16Array(256);
decodeMulaw(
  Uint8Array.from(levels, (_, code) => code),
  0,
  256,
  levels,
  0,
);
for (const [code, level] of levels.entries()) IS_LOUD_MULAW[code] = Math.abs(level) > LOUD_SAMPLE ? 1 : 0;

export class Recogniser {
  readonly #options: RecogniserOptions;
  readonly #bytesPerSample: number;
  readonly #schedule = new Schedule();
  #streamMs = 0;
  #loudWindows = 0;
  #onsetMs = Number.NaN;
  #lastLoudMs = 0;
  #interimAtMs = 0;
  #utterances = 0;
  /** Up to here all is final. */
  #settledMs = 0;

  constructor(options: RecogniserOptions) {
    this.#options = options;
    this.#bytesPerSample = options.encoding === 'linear16' ? 2 : 1;
  }

  sound(bytes: Uint8Array): void {
    const samples = Math.floor(bytes.length / this.#bytesPerSample);
    const windowSamples = (this.#options.rateHz * WINDOW_MS) / 1_000;
    for (let from = 0; from < samples; from += windowSamples) {
      const to = Math.min(samples, from + windowSamples);
      this.#streamMs += ((to - from) * 1_000) / this.#options.rateHz;
      this.#window(this.#isLoud(bytes, from, to));
    }
  }

  command(type: unknown): void {
    if (type !== 'Finalize') return;
    const words = this.#takeUtterance();
    const endMs = this.#streamMs;
    this.#schedule.after(LATENCIES.finalMs, () => this.#results(words, endMs, { isFinal: true, isAsked: true }));
  }

  close(): void {
    this.#schedule.clear();
  }

  get #speaks(): boolean {
    return !Number.isNaN(this.#onsetMs);
  }

  #window(isLoud: boolean): void {
    if (!this.#speaks) {
      this.#loudWindows = isLoud ? this.#loudWindows + 1 : 0;
      if (this.#loudWindows < ONSET_WINDOWS) return;
      this.#onsetMs = this.#streamMs - this.#loudWindows * WINDOW_MS;
      this.#lastLoudMs = this.#streamMs;
      this.#interimAtMs = this.#onsetMs + LATENCIES.interimEveryMs;
      const startedAt = { type: 'SpeechStarted', channel: [0], timestamp: this.#onsetMs / 1_000 };
      if (this.#options.tellsStarts) this.#schedule.after(LATENCIES.interimMs, () => this.#options.say(startedAt));
      return;
    }
    if (isLoud) this.#lastLoudMs = this.#streamMs;
    if (this.#streamMs - this.#lastLoudMs >= LATENCIES.pauseMs) {
      const words = this.#takeUtterance();
      const endMs = this.#streamMs;
      this.#schedule.after(LATENCIES.finalMs, () => this.#results(words, endMs, { isFinal: true, isOver: true }));
    } else if (this.#streamMs >= this.#interimAtMs) {
      this.#interimAtMs += LATENCIES.interimEveryMs;
      const words = this.#words();
      const endMs = this.#streamMs;
      this.#schedule.after(LATENCIES.interimMs, () => this.#results(words, endMs, {}));
    }
  }

  /** The words of the sound so far; the utterance is over. */
  #takeUtterance(): Word[] {
    if (!this.#speaks) return [];
    const words = this.#words(true);
    this.#utterances++;
    this.#onsetMs = Number.NaN;
    this.#loudWindows = 0;
    return words;
  }

  /** A line is taken to last two seconds, until it is over. */
  #words(isWhole = false): Word[] {
    const line = LINES[this.#utterances % LINES.length]!.split(' ');
    const eachMs = isWhole ? (this.#lastLoudMs - this.#onsetMs) / line.length : 2_000 / line.length;
    return line.flatMap((word, index) => {
      const startMs = this.#onsetMs + index * eachMs;
      const endMs = startMs + eachMs;
      if (!isWhole && endMs > this.#streamMs) return [];
      return [{ word, punctuated_word: word, start: startMs / 1_000, end: endMs / 1_000, confidence: 0.99 }];
    });
  }

  #results(
    words: Word[],
    endMs: number,
    { isFinal = false, isOver = false, isAsked = false }: { isFinal?: boolean; isOver?: boolean; isAsked?: boolean },
  ): void {
    if (!isFinal && endMs <= this.#settledMs) return;
    const startMs = this.#settledMs;
    if (isFinal) this.#settledMs = Math.max(endMs, this.#settledMs);
    const transcript = words.map(({ word }) => word).join(' ');
    this.#options.say({
      type: 'Results',
      channel_index: [0, 1],
      start: startMs / 1_000,
      duration: Math.max(0, endMs - startMs) / 1_000,
      is_final: isFinal,
      speech_final: isOver,
      from_finalize: isAsked,
      channel: { alternatives: [{ transcript, confidence: words.length === 0 ? 0 : 0.99, words, languages: ['en'] }] },
      metadata: { request_id: this.#options.requestId, model_uuid: '', model_info: {} },
    });
  }

  #isLoud(bytes: Uint8Array, from: number, to: number): boolean {
    if (this.#bytesPerSample === 1) {
      for (let i = from; i < to; i++) if (IS_LOUD_MULAW[bytes[i]!] === 1) return true;
      return false;
    }
    for (let i = from; i < to; i++) {
      const sample = ((bytes[2 * i]! | (bytes[2 * i + 1]! << 8)) << 16) >> 16;
      if (sample > LOUD_SAMPLE || sample < -LOUD_SAMPLE) return true;
    }
    return false;
  }
}

interface Word {
  word: string;
  punctuated_word: string;
  start: number;
  end: number;
  confidence: number;
}
