/**
 * Several voices as one: the first speaks, the others stand by. A voice that fails, or whose sound is not there in
 * time, is hedged by the next, and whoever sounds first goes on; one that breaks off is gone on for from the word
 * that it had not said, as it tells it or, where it tells no words, as its pace has it (`blind-pace.ts`). Behind the
 * same port as each of them, so that whoever speaks knows nothing of it. Made by a pipeline thread for a call whose
 * agent names more than one.
 *
 *   first ──0.7 s of nothing──► the next too, the faster speaks
 *   speaks ──fault, 0.7 s behind──► the next, the rest
 */
import { createResampler } from '../audio/resampler.ts';
import type { Clock } from '../contract/clock.ts';
import type { SpeechChunk, SpeechRequest, TextToSpeech } from '../contract/engines.ts';
import { BlindPace, BlindSound } from './blind-pace.ts';

export interface NamedVoice {
  textToSpeech: TextToSpeech;
  /** What its engine calls the voice. */
  name: string;
  /** For people: engine and connection. */
  label: string;
}

/** `late`: the next was asked too. `failed`: the next speaks, and why. */
export type VoiceTrouble = { kind: 'late' | 'failed'; label: string; message: string; afterMs: number };

export interface StandbyVoiceOptions {
  /** Two at least, the preferred first. */
  voices: readonly NamedVoice[];
  clock: Clock;
  told(trouble: VoiceTrouble): void;
}

/** Without sound for so long the next is asked; of what has begun to sound: so long behind its playing. */
export const HEDGE_AFTER_MS = 700;
/** Of what nobody waits for yet: sockets are dialled for it. */
export const HEDGE_AHEAD_AFTER_MS = 2_000;
/** Who was late, or failed, so often in a row begins no text for a while. */
const LOSSES = 2;
const ASKED_LAST_MS = 30_000;
/** Refused by these, no other voice would say it either. */
const OF_THE_TEXT = new Set(['nothing_to_speak', 'text_too_long']);

export class StandbyVoice implements TextToSpeech {
  readonly outputRateHz: number;
  readonly voices: readonly string[] = [];
  readonly #options: StandbyVoiceOptions;
  readonly #losses: number[];
  readonly #lastUntilMs: number[];
  readonly #paces: BlindPace[];

  constructor(options: StandbyVoiceOptions) {
    this.#options = options;
    this.#paces = options.voices.map(() => new BlindPace());
    this.outputRateHz = options.voices[0]!.textToSpeech.outputRateHz;
    this.#losses = options.voices.map(() => 0);
    this.#lastUntilMs = options.voices.map(() => Number.NEGATIVE_INFINITY);
  }

  /** `request.voice` is not read: each voice has its own name. */
  synthesize(request: SpeechRequest, onChunk: (chunk: SpeechChunk) => void): Promise<void> {
    if (request.signal.aborted) return Promise.reject(new DOMException('The speech was cancelled.', 'AbortError'));
    return new Promise<void>((resolve, reject) => {
      const { voices, clock, told } = this.#options;
      const speaking = new Speaking({
        request,
        onChunk,
        voices,
        order: this.#order(),
        paces: this.#paces,
        rateHz: this.outputRateHz,
        clock,
        told,
        fared: (voice, isWell) => this.#fared(voice, isWell),
        settle: (error) => {
          request.signal.removeEventListener('abort', abort);
          if (error === null) resolve();
          else reject(error);
        },
      });
      const abort = (): void => speaking.cancel();
      request.signal.addEventListener('abort', abort);
      speaking.begin();
    });
  }

  #order(): number[] {
    const nowMs = this.#options.clock.nowMs();
    const all = this.#options.voices.map((_, voice) => voice);
    const isLast = (voice: number): boolean => this.#lastUntilMs[voice]! > nowMs;
    return [...all.filter((voice) => !isLast(voice)), ...all.filter(isLast)];
  }

  #fared(voice: number, isWell: boolean): void {
    if (isWell) this.#losses[voice] = 0;
    else if (++this.#losses[voice]! >= LOSSES) {
      this.#losses[voice] = 0;
      this.#lastUntilMs[voice] = this.#options.clock.nowMs() + ASKED_LAST_MS;
    }
  }
}

interface SpeakingDeps extends StandbyVoiceOptions {
  request: SpeechRequest;
  onChunk(chunk: SpeechChunk): void;
  /** Places in `voices`. */
  order: readonly number[];
  /** By voice. */
  paces: readonly BlindPace[];
  rateHz: number;
  fared(voice: number, isWell: boolean): void;
  settle(error: Error | null): void;
}

interface Attempt {
  voice: number;
  /** Where in the text it begins. */
  from: number;
  askedAtMs: number;
  abort: AbortController;
  /** Sound of which it did not say what it says. */
  blind: BlindSound;
  convert: ((samples: Int16Array) => Int16Array) | null;
  release(): void;
  /** Chunks that came before its resampler was there: none is lost, none overtakes. */
  waiting: SpeechChunk[] | null;
  isOver: boolean;
}

/** One text. */
class Speaking {
  readonly #deps: SpeakingDeps;
  #attempts: Attempt[] = [];
  readonly #hedgeAfterMs: number;
  #asked = 0;
  /** Who sounds. */
  #speaks: Attempt | null = null;
  /** End of the words that were said, in the whole text. */
  #saidChars = 0;
  #soundsSinceMs = 0;
  #soundMs = 0;
  #cancelWatch: () => void = () => {};
  #isOver = false;

  constructor(deps: SpeakingDeps) {
    this.#deps = deps;
    this.#hedgeAfterMs = deps.request.ahead === true ? HEDGE_AHEAD_AFTER_MS : HEDGE_AFTER_MS;
  }

  begin(): void {
    this.#ask(0);
  }

  cancel(): void {
    this.#finish(new DOMException('The speech was cancelled.', 'AbortError'));
  }

  /** False: nobody is left. */
  #ask(from: number): boolean {
    const { order, voices, clock, request, rateHz } = this.#deps;
    const voice = order[this.#asked];
    if (voice === undefined) return false;
    this.#asked++;
    const { textToSpeech, name } = voices[voice]!;
    const attempt: Attempt = {
      voice,
      from,
      askedAtMs: clock.nowMs(),
      abort: new AbortController(),
      blind: new BlindSound(),
      convert: null,
      release: () => {},
      waiting: null,
      isOver: false,
    };
    this.#attempts.push(attempt);
    const ready = textToSpeech.outputRateHz === rateHz ? null : this.#convertFrom(attempt, textToSpeech.outputRateHz);
    const text = request.text.slice(from);
    const speaking = textToSpeech.synthesize({ ...request, text, voice: name, signal: attempt.abort.signal }, (chunk) =>
      this.#chunk(attempt, chunk),
    );
    Promise.all([speaking, ready]).then(
      () => this.#said(attempt),
      (error: unknown) => this.#failed(attempt, error instanceof Error ? error : new Error(String(error))),
    );
    this.#watch();
    return true;
  }

  async #convertFrom(attempt: Attempt, fromHz: number): Promise<void> {
    attempt.waiting = [];
    const resampler = await createResampler(fromHz, this.#deps.rateHz);
    if (attempt.isOver) return resampler.close();
    attempt.release = () => resampler.close();
    attempt.convert = (samples) => resampler.process(samples).slice();
    const waiting = attempt.waiting;
    attempt.waiting = null;
    for (const chunk of waiting) this.#chunk(attempt, chunk);
  }

  #chunk(attempt: Attempt, chunk: SpeechChunk): void {
    if (attempt.isOver || this.#isOver) return;
    if (attempt.waiting !== null) {
      attempt.waiting.push({ ...chunk, samples: chunk.samples.slice() });
      return;
    }
    if (this.#speaks === null) this.#sounds(attempt);
    const isMulaw = chunk.mulawBytes !== undefined;
    const rateHz = isMulaw ? 8_000 : this.#rateOf(attempt);
    this.#soundMs += (chunk.samples.length / rateHz) * 1_000;
    if (chunk.words === undefined && chunk.text === '') attempt.blind.add(chunk.samples, rateHz);
    const last = chunk.words?.at(-1);
    if (last !== undefined) this.#saidChars = attempt.from + last.charEnd;
    else if (chunk.words === undefined && chunk.text !== '')
      this.#saidChars = Math.min(this.#saidChars + chunk.text.length, this.#deps.request.text.length);
    const words = chunk.words?.map((word) => ({
      ...word,
      charStart: word.charStart + attempt.from,
      charEnd: word.charEnd + attempt.from,
    }));
    const samples = isMulaw || attempt.convert === null ? chunk.samples : attempt.convert(chunk.samples);
    this.#deps.onChunk({ ...chunk, samples, voice: attempt.voice, ...(words === undefined ? {} : { words }) });
    this.#watch();
  }

  #rateOf({ voice }: Attempt): number {
    return this.#deps.voices[voice]!.textToSpeech.outputRateHz;
  }

  #sounds(attempt: Attempt): void {
    const { clock, fared } = this.#deps;
    this.#speaks = attempt;
    this.#soundsSinceMs = clock.nowMs();
    this.#soundMs = 0;
    if (this.#soundsSinceMs - attempt.askedAtMs < this.#hedgeAfterMs) fared(attempt.voice, true);
    for (const other of this.#attempts) if (other !== attempt) drop(other);
  }

  #said(attempt: Attempt): void {
    if (attempt.isOver || this.#isOver) return;
    if (this.#speaks === attempt) {
      this.#deps.paces[attempt.voice]!.learn(this.#deps.request.text.length - attempt.from, attempt.blind.voicedMs);
      this.#finish(null);
    } else this.#failed(attempt, new Error('it made no sound of the text'));
  }

  #failed(attempt: Attempt, error: Error): void {
    if (attempt.isOver || this.#isOver) return;
    drop(attempt);
    if (OF_THE_TEXT.has((error as { code?: string }).code ?? '')) {
      this.#finish(error);
      return;
    }
    this.#deps.fared(attempt.voice, false);
    this.#tell('failed', attempt, error.message);
    this.#goOn(error);
  }

  /** Where nobody sounds any more the next is asked for what is left. */
  #goOn(error: Error): void {
    const { text } = this.#deps.request;
    if (this.#attempts.some(({ isOver }) => !isOver)) return;
    const speaks = this.#speaks;
    const hasSounded = speaks !== null;
    if (speaks !== null) this.#saidChars = Math.max(this.#saidChars, this.#blindChars(speaks));
    this.#speaks = null;
    if (hasSounded && !/[\p{L}\p{N}]/u.test(text.slice(this.#saidChars))) this.#finish(null);
    else if (!this.#ask(hasSounded ? this.#saidChars : 0)) this.#finish(error);
  }

  /** Of the whole text: up to the word in which the sound broke off. */
  #blindChars({ voice, from, blind }: Attempt): number {
    return from + this.#deps.paces[voice]!.charsIn(this.#deps.request.text.slice(from), blind.voicedMs);
  }

  #watch(): void {
    this.#cancelWatch();
    if (this.#isOver) return;
    const { clock } = this.#deps;
    const newest = this.#attempts.findLast(({ isOver }) => !isOver);
    if (newest === undefined) return;
    const dueMs =
      this.#speaks === null
        ? newest.askedAtMs + this.#hedgeAfterMs
        : this.#soundsSinceMs + this.#soundMs + this.#hedgeAfterMs;
    this.#cancelWatch = clock.after(Math.max(1, dueMs - clock.nowMs()), () => this.#late(newest));
  }

  #late(newest: Attempt): void {
    // The last of them is waited for, by whoever speaks.
    if (this.#isOver || this.#asked >= this.#deps.order.length) return;
    const speaks = this.#speaks;
    const late = speaks ?? newest;
    this.#deps.fared(late.voice, false);
    if (speaks === null) {
      this.#tell('late', late, `no sound within ${this.#hedgeAfterMs} ms`);
      this.#ask(0);
    } else {
      this.#tell('failed', late, `it fell ${this.#hedgeAfterMs} ms behind`);
      drop(speaks);
      this.#goOn(new Error('the voice broke off'));
    }
  }

  #tell(kind: VoiceTrouble['kind'], { voice, askedAtMs }: Attempt, message: string): void {
    const { voices, clock, told } = this.#deps;
    told({ kind, label: voices[voice]!.label, message, afterMs: Math.round(clock.nowMs() - askedAtMs) });
  }

  #finish(error: Error | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelWatch();
    for (const attempt of this.#attempts) drop(attempt);
    this.#deps.settle(error);
  }
}

function drop(attempt: Attempt): void {
  if (attempt.isOver) return;
  attempt.isOver = true;
  attempt.release();
  attempt.abort.abort();
}
