/**
 * A callee's ear: finds where the agent speaks and hands that to a recogniser, which listens for cue phrases. Called by
 * the speaking callee with every 20 ms frame that it hears. It knows nothing but the sound.
 */
import type { RecognitionStream, SpeechToText, VoiceActivity } from '../../../media/contract/engines.ts';

const FRAME_MS = 20;
const FRAME_SAMPLES = 160;
/** Speech in this many of the last five frames begins an utterance. */
const ONSET_FRAMES = 3;
const ONSET_WINDOW = 0b11111;
/** Sound before the onset that the recogniser gets too. */
const PREROLL_FRAMES = 15;
/**
 * A recogniser that is silent for so long has hung, and the utterance counts as not understood. One on a busy machine
 * is only late, and a callee who gave up on it would ask the agent to repeat itself for as long as the machine is busy.
 */
const ANSWER_TIMEOUT_MS = 30_000;
/**
 * Utterances of one callee that a recogniser may owe an answer to. What comes beyond them is not listened to: a
 * recogniser that is behind would fall further behind with each time that the agent asks whether somebody is there.
 */
const MOST_OWED = 2;

export interface EarListener {
  /** Cue phrases for an utterance that begins now. */
  cues(): string[];
  partial(text: string, utteranceStartMs: number): void;
  /** The utterance is over: `text` is empty when no cue was in it. */
  finished(text: string, utteranceStartMs: number, utteranceEndMs: number): void;
  warning(message: string): void;
}

interface Utterance {
  startMs: number;
  lastSpeechMs: number;
  /** Null when there is nothing to listen for. */
  recognition: RecognitionStream | null;
  settled: boolean;
  /** When the final result was asked for; null while the agent speaks. */
  finishedAtMs: number | null;
}

export class Ear {
  readonly #speechToText: SpeechToText;
  readonly #voiceActivity: VoiceActivity;
  readonly #listener: EarListener;
  readonly #patienceMs: number;
  readonly #preroll: Int16Array[] = Array.from({ length: PREROLL_FRAMES }, () => new Int16Array(FRAME_SAMPLES));
  #frames = 0;
  #recentSpeech = 0;
  #utterance: Utterance | null = null;
  #owed = 0;
  /** The one whose final result is awaited. */
  #awaited: Utterance | null = null;

  constructor(speechToText: SpeechToText, voiceActivity: VoiceActivity, patienceMs: number, listener: EarListener) {
    this.#speechToText = speechToText;
    this.#voiceActivity = voiceActivity;
    this.#patienceMs = patienceMs;
    this.#listener = listener;
  }

  /** Ms of sound heard so far. */
  get nowMs(): number {
    return this.#frames * FRAME_MS;
  }

  /** Someone speaks, or has stopped so lately that it may go on. */
  get hearsSpeech(): boolean {
    return this.#utterance !== null;
  }

  /** One 20 ms frame at 8 kHz; copied. */
  hear(monoSamples: Int16Array): void {
    const speech = this.#voiceActivity.isSpeech(monoSamples);
    this.#preroll[this.#frames % PREROLL_FRAMES]!.set(monoSamples);
    this.#frames++;
    this.#recentSpeech = ((this.#recentSpeech << 1) | (speech ? 1 : 0)) & ONSET_WINDOW;
    if (this.#utterance === null) {
      if (bitsOf(this.#recentSpeech) >= ONSET_FRAMES) this.#begin();
    } else {
      this.#utterance.recognition?.push(monoSamples.slice());
      if (speech) this.#utterance.lastSpeechMs = this.nowMs;
      else if (this.nowMs - this.#utterance.lastSpeechMs >= this.#patienceMs) this.#finish(this.#utterance);
    }
    const awaited = this.#awaited;
    if (awaited !== null && this.nowMs - (awaited.finishedAtMs ?? this.nowMs) >= ANSWER_TIMEOUT_MS) {
      this.#listener.warning(`the recogniser did not answer in ${ANSWER_TIMEOUT_MS / 1000} s`);
      this.#settle(awaited, '');
    }
  }

  close(): void {
    this.#utterance?.recognition?.cancel();
    this.#utterance = null;
    this.#awaited = null;
    this.#voiceActivity.close();
  }

  #begin(): void {
    const startMs = this.nowMs - ONSET_FRAMES * FRAME_MS;
    const utterance: Utterance = {
      startMs,
      lastSpeechMs: this.nowMs,
      recognition: null,
      settled: false,
      finishedAtMs: null,
    };
    this.#utterance = utterance;
    const phrases = this.#listener.cues();
    if (phrases.length === 0) return;
    if (this.#owed >= MOST_OWED) {
      utterance.settled = true;
      return;
    }
    this.#owed++;
    utterance.recognition = this.#speechToText.open(
      { phrases, anywhere: true },
      ({ text, rejected, final }) => {
        if (final) this.#owed--;
        if (utterance.settled) return;
        const heard = rejected ? '' : text;
        if (final) this.#settle(utterance, heard);
        else if (heard !== '') this.#listener.partial(heard, utterance.startMs);
      },
      (error) => {
        this.#owed--;
        this.#listener.warning(`the recogniser failed: ${error.message}`);
        this.#settle(utterance, '');
      },
    );
    const kept = Math.min(this.#frames, PREROLL_FRAMES);
    for (let i = this.#frames - kept; i < this.#frames; i++)
      utterance.recognition.push(this.#preroll[i % PREROLL_FRAMES]!.slice());
  }

  #finish(utterance: Utterance): void {
    this.#utterance = null;
    utterance.finishedAtMs = this.nowMs;
    if (utterance.recognition === null) {
      this.#settle(utterance, '');
    } else if (!utterance.settled) {
      this.#awaited = utterance;
      utterance.recognition.finish();
    }
  }

  #settle(utterance: Utterance, text: string): void {
    if (this.#awaited === utterance) this.#awaited = null;
    if (utterance.settled) return;
    utterance.settled = true;
    this.#listener.finished(text, utterance.startMs, utterance.lastSpeechMs);
  }
}

function bitsOf(word: number): number {
  let bits = 0;
  for (let rest = word; rest !== 0; rest &= rest - 1) bits++;
  return bits;
}
