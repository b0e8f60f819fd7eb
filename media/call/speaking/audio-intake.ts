/**
 * Sound as it comes from an agent, with its words → `RenderedSpeech`. Nothing is cut from it: it is played as it was
 * given. Sound beyond the longest speech is not taken, and the feed told so.
 */
import type { LegFormat } from '../../contract/audio-format.ts';
import type { AudioFeed } from '../../contract/speech-source.ts';
import { LegEncoder } from './leg-encoder.ts';
import { RenderedSpeech } from './rendered-speech.ts';

/** The returned speech grows with the feed; it fails (`error`) instead of throwing. */
export function takeAudio(feed: AudioFeed, format: LegFormat): RenderedSpeech {
  const speech = new RenderedSpeech('', format);
  const intake = new AudioIntake(feed, speech);
  speech.abandon = () => {
    speech.fail(new DOMException('the rest is not needed', 'AbortError'));
    feed.abandon();
  };
  void intake.begin();
  return speech;
}

class AudioIntake {
  readonly #feed: AudioFeed;
  readonly #speech: RenderedSpeech;
  #encoder: LegEncoder | null = null;
  #tookWords = 0;
  #isDue = false;

  constructor(feed: AudioFeed, speech: RenderedSpeech) {
    this.#feed = feed;
    this.#speech = speech;
    // Not within the agent that feeds it.
    feed.onChange = () => {
      if (this.#isDue) return;
      this.#isDue = true;
      queueMicrotask(() => this.#take());
    };
  }

  async begin(): Promise<void> {
    try {
      this.#encoder = await LegEncoder.create(this.#speech, this.#feed.rateHz);
    } catch (error) {
      this.#over(error instanceof Error ? error : new Error(String(error)));
    }
    this.#take();
  }

  #take(): void {
    this.#isDue = false;
    const encoder = this.#encoder;
    if (encoder === null) return;
    if (this.#speech.complete) {
      this.#close();
      return;
    }
    this.#takeWords();
    const { chunks, isFinished, error } = this.#feed;
    for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) {
      if (encoder.encode(chunk)) continue;
      this.#feed.abandon();
      this.#over(null);
      return;
    }
    if (!isFinished) return;
    if (error === null) encoder.flush();
    this.#over(error);
  }

  #takeWords(): void {
    const { words } = this.#feed;
    if (this.#tookWords === words.length) return;
    let { text } = this.#speech;
    for (; this.#tookWords < words.length; this.#tookWords++) {
      const word = words[this.#tookWords]!;
      const charStart = text.length + (word.text.length - word.text.trimStart().length);
      text += word.text;
      this.#speech.words.push({ charStart, charEnd: text.trimEnd().length, startMs: word.startMs, endMs: word.endMs });
    }
    this.#speech.grow(text);
  }

  #over(error: Error | null): void {
    this.#close();
    if (error === null) this.#speech.finish(true);
    else this.#speech.fail(error);
  }

  #close(): void {
    this.#encoder?.close();
    this.#encoder = null;
  }
}
