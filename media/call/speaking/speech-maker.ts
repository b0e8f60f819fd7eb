/**
 * What an agent gives to be said → `RenderedSpeech`, each kind by its own way: a text by the voice engine or from what
 * is kept of it, a clip from its file, a feed as it grows, a loop at once. The agent's voice makes one and plays what
 * it gives.
 */
import type { LegFormat } from '../../contract/audio-format.ts';
import type { CallClips } from '../../contract/clip.ts';
import type { Clock } from '../../contract/clock.ts';
import type { TextToSpeech } from '../../contract/engines.ts';
import type { SpeechSource } from '../../contract/speech-source.ts';
import { takeAudio } from './audio-intake.ts';
import type { ClipCache } from './clip-cache.ts';
import type { GreetingCache } from './greeting-cache.ts';
import { loopedSpeech } from './looped-speech.ts';
import type { RenderedSpeech } from './rendered-speech.ts';
import { renderFeed, renderSpeech } from './speech-renderer.ts';

export interface SpeechMakerDeps {
  clock: Clock;
  textToSpeech: TextToSpeech;
  /** Of that engine. */
  greetings: GreetingCache;
  /** Of this call. */
  clips?: { cache: ClipCache; files: CallClips };
}

/** How an agent speaks. */
export interface VoiceWish {
  /** In the voice engine. */
  voice: string;
  /** Sentences that are the same in every call. */
  fixed: ReadonlySet<string>;
  /** Of the leg. */
  format: LegFormat;
}

export class SpeechMaker {
  readonly #deps: SpeechMakerDeps;
  readonly #wish: VoiceWish;

  constructor(deps: SpeechMakerDeps, wish: VoiceWish) {
    this.#deps = deps;
    this.#wish = wish;
  }

  /** Null: a clip that is not to be had. Throws for a loop that does not fit the leg. */
  speechOf(source: SpeechSource): RenderedSpeech | null {
    const { textToSpeech, clock, clips } = this.#deps;
    const { format } = this.#wish;
    if ('loop' in source) return loopedSpeech(source.loop, format);
    if ('audio' in source) return takeAudio(source.audio, format);
    if ('feed' in source) return renderFeed(textToSpeech, clock, source.feed, this.#wish);
    const { text, clip } = source;
    if (clip === undefined) return this.#spoken(source);
    const file = clips?.files[clip];
    return clips === undefined || file === undefined ? null : clips.cache.obtain(file, text, format);
  }

  /** Of a text that will be said `isFixed`. */
  makeReady(text: string): void {
    this.#deps.greetings.obtain({ ...this.#wish, text, ahead: true });
  }

  #spoken({ text, isOpening = false, isFixed = false }: Extract<SpeechSource, { text: string }>): RenderedSpeech {
    const { greetings, textToSpeech, clock } = this.#deps;
    const request = { ...this.#wish, text };
    return isOpening || isFixed ? greetings.obtain(request, !isOpening) : renderSpeech(textToSpeech, clock, request);
  }
}
