/**
 * What an emulated recogniser hears: turns the bytes of a socket into frames of 20 ms, tells where somebody speaks,
 * and has the words of the stretch that the session is in decoded. Time is that of the sound; `arrivedAtMs` ties it to
 * the clock. Called by a session of either version with each binary message.
 */
import { decodeMulaw } from '../../../../media/audio/g711.ts';
import type { RecognitionStream, VoiceActivity } from '../../../../media/contract/engines.ts';
import type { TimedWord } from '../../../../media/engines/local/rejection.ts';
import type { RecogniserRateHz, WordRecogniser } from '../word-recogniser.ts';

export interface SoundFormat {
  encoding: 'mulaw' | 'linear16';
  rateHz: RecogniserRateHz;
}

export interface HearingListener {
  /** After each frame of sound. */
  frame(): void;
  /** Speech has begun: a stretch may be opened. */
  onset(atMs: number): void;
  warning(message: string): void;
}

/** Of the stretch that is open; its times are those of the sound, from the beginning of the stream. */
export interface StretchListener {
  /** The words so far. */
  partial(words: TimedWord[]): void;
  /** Answers `conclude`. */
  concluded?(words: TimedWord[]): void;
}

interface Stretch {
  stream: RecognitionStream;
  startMs: number;
  /** Answers `finish`. */
  whenFinal(words: TimedWord[]): void;
}

const FRAME_MS = 20;
/** Speech in this many of the last five frames is an onset. */
const ONSET_FRAMES = 3;
const ONSET_WINDOW = 0b11111;
/** Sound before the onset that is decoded too. */
const PREROLL_FRAMES = 15;
/** Of a word's frames: with less voice in it than this it is a mistake. */
const LEAST_VOICE = 0.3;
/** Verdicts about voices come so many frames late. */
const VERDICT_FRAMES = 2;
const MOST_VERDICTS = 3_000;
/** Speech may last so much longer than the gate hears it. */
const GATE_LAG_MS = 80;

export class Hearing {
  readonly #recogniser: WordRecogniser;
  readonly #gate: VoiceActivity;
  readonly #format: SoundFormat;
  readonly #listener: HearingListener;
  readonly #frame: Int16Array;
  readonly #preroll: Int16Array[];
  #filledSamples = 0;
  /** The first half of a sample whose second comes with the next message. */
  #oddByte: number | null = null;
  #frames = 0;
  #recentSpeech = 0;
  /** Of the newest frames, at most `MOST_VERDICTS`, by their number. */
  readonly #isVoice = new Uint8Array(MOST_VERDICTS);
  #stretch: Stretch | null = null;
  /** Sound before this belongs to a stretch that is over. */
  #endedMs = 0;
  /** Of the message that holds the last frame. */
  arrivedAtMs = 0;
  /** Where speech was heard last, in ms of sound; -Infinity before the first. */
  lastSpeechMs = Number.NEGATIVE_INFINITY;

  constructor(recogniser: WordRecogniser, format: SoundFormat, listener: HearingListener) {
    this.#recogniser = recogniser;
    this.#gate = recogniser.createVoiceActivity(format.rateHz);
    this.#format = format;
    this.#listener = listener;
    const samples = (format.rateHz * FRAME_MS) / 1000;
    this.#frame = new Int16Array(samples);
    this.#preroll = Array.from({ length: PREROLL_FRAMES }, () => new Int16Array(samples));
  }

  /** Ms of sound so far. */
  get nowMs(): number {
    return this.#frames * FRAME_MS;
  }

  get silenceMs(): number {
    return this.nowMs - this.lastSpeechMs;
  }

  get hasStretch(): boolean {
    return this.#stretch !== null;
  }

  /** Of the open stretch; NaN without one. */
  get stretchMs(): number {
    return this.nowMs - (this.#stretch?.startMs ?? Number.NaN);
  }

  push(bytes: Uint8Array, arrivedAtMs: number): void {
    this.arrivedAtMs = arrivedAtMs;
    const samples = this.#samplesOf(bytes);
    for (let from = 0; from < samples.length; ) {
      const count = Math.min(samples.length - from, this.#frame.length - this.#filledSamples);
      this.#frame.set(samples.subarray(from, from + count), this.#filledSamples);
      this.#filledSamples += count;
      from += count;
      if (this.#filledSamples === this.#frame.length) this.#hear();
    }
  }

  /** Begins to decode, from a little before now. An open stretch is dropped. */
  open(phrases: readonly string[], listener: StretchListener): void {
    this.drop();
    const kept = Math.min(this.#frames - this.#endedMs / FRAME_MS, PREROLL_FRAMES);
    const startMs = this.nowMs - kept * FRAME_MS;
    const inSound = (words: readonly TimedWord[]): TimedWord[] =>
      words
        .map((word) => ({ ...word, startMs: word.startMs + startMs, endMs: word.endMs + startMs }))
        .filter((word) => !this.#recogniser.tellsVoices || this.#hasVoice(word));
    const stretch = { startMs, whenFinal: (_words: TimedWord[]): void => {} };
    const stream = this.#recogniser.open(
      this.#format.rateHz,
      phrases,
      ({ words, final, concluded }) => {
        if (final) stretch.whenFinal(inSound(words));
        else if (concluded) listener.concluded?.(inSound(words));
        else listener.partial(inSound(words));
      },
      (error) => {
        this.#listener.warning(error.message);
        stretch.whenFinal([]);
      },
    );
    for (let i = this.#frames - kept; i < this.#frames; i++) stream.push(this.#preroll[i % PREROLL_FRAMES]!.slice());
    this.#stretch = Object.assign(stretch, { stream });
  }

  conclude(): void {
    this.#stretch?.stream.conclude();
  }

  goOn(): void {
    this.#stretch?.stream.goOn();
  }

  /** Ends the stretch; its final words come later, while others may be open. */
  finish(whenFinal: (words: TimedWord[]) => void): void {
    const stretch = this.#stretch;
    if (stretch === null) return;
    this.#stretch = null;
    // Its pause is the next one's beginning too: a soft first sound may lie in it, before the gate hears it.
    this.#endedMs = Math.min(this.nowMs, Math.max(0, this.lastSpeechMs) + GATE_LAG_MS);
    stretch.whenFinal = whenFinal;
    stretch.stream.finish();
  }

  /** Ends it without words. */
  drop(): void {
    this.#stretch?.stream.cancel();
    this.#stretch = null;
  }

  close(): void {
    this.drop();
    this.#gate.close();
  }

  #hear(): void {
    this.#filledSamples = 0;
    const isSpeech = this.#gate.isSpeech(this.#frame);
    this.#preroll[this.#frames % PREROLL_FRAMES]!.set(this.#frame);
    this.#isVoice[this.#frames % MOST_VERDICTS] = isSpeech ? 1 : 0;
    this.#frames++;
    this.#recentSpeech = ((this.#recentSpeech << 1) | (isSpeech ? 1 : 0)) & ONSET_WINDOW;
    this.#stretch?.stream.push(this.#frame.slice());
    // Single frames of speech are the gate's mistakes: they neither begin speech nor prolong it.
    if (isSpeech && bitsOf(this.#recentSpeech) >= ONSET_FRAMES) {
      const isNew = this.silenceMs > ONSET_FRAMES * FRAME_MS;
      this.lastSpeechMs = this.nowMs;
      if (isNew) this.#listener.onset(this.nowMs - ONSET_FRAMES * FRAME_MS);
    }
    this.#listener.frame();
  }

  #hasVoice({ startMs, endMs }: TimedWord): boolean {
    const from = Math.floor(startMs / FRAME_MS) + VERDICT_FRAMES;
    const to = Math.min(this.#frames, Math.ceil(endMs / FRAME_MS) + VERDICT_FRAMES);
    let voiced = 0;
    for (let frame = from; frame < to; frame++) voiced += this.#isVoice[frame % MOST_VERDICTS]!;
    return to <= from || voiced / (to - from) >= LEAST_VOICE;
  }

  #samplesOf(bytes: Uint8Array): Int16Array {
    if (this.#format.encoding === 'mulaw') {
      const samples = new Int16Array(bytes.length);
      decodeMulaw(bytes, 0, bytes.length, samples, 0);
      return samples;
    }
    const whole = this.#oddByte === null ? bytes : new Uint8Array([this.#oddByte, ...bytes]);
    const samples = new Int16Array(whole.length >> 1);
    for (let i = 0; i < samples.length; i++) samples[i] = whole[2 * i]! | (whole[2 * i + 1]! << 8);
    this.#oddByte = whole.length % 2 === 1 ? whole.at(-1)! : null;
    return samples;
  }
}

function bitsOf(word: number): number {
  let bits = 0;
  for (let rest = word; rest !== 0; rest &= rest - 1) bits++;
  return bits;
}
