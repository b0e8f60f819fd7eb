/**
 * Clips as speech of a leg: rendered once for each format, kept in memory for this thread and by its source on the disk
 * for the others. A clip that is still being rendered plays from the rendering itself. Bounded;
 * what was not used for longest goes.
 */
import type { Logger } from 'pino';
import type { LegFormat } from '../../contract/audio-format.ts';
import { CLIP_RATE_HZ, type ClipFile } from '../../contract/clip.ts';
import { LegEncoder } from './leg-encoder.ts';
import { RenderedSpeech } from './rendered-speech.ts';
import { addWords } from './word-table.ts';

/** Where the sound of clips comes from. */
export interface ClipSource {
  /** One channel of PCM at `CLIP_RATE_HZ`, in pieces; rejects where it is gone or damaged. */
  sound(clip: ClipFile): AsyncIterable<Int16Array>;
  /** What was kept of it in this format; null when nothing was. Never rejects. */
  kept(clip: ClipFile, format: LegFormat): Promise<Uint8Array | null>;
  keep(clip: ClipFile, format: LegFormat, frames: Uint8Array): Promise<void>;
}

const MOST_BYTES = 48 * 1024 * 1024;

export class ClipCache {
  readonly #source: ClipSource;
  readonly #logger: Logger;
  /** Oldest use first. */
  readonly #memory = new Map<string, RenderedSpeech>();

  constructor(source: ClipSource, logger: Logger) {
    this.#source = source;
    this.#logger = logger;
  }

  /** At once, perhaps still growing; it fails (`error`) instead of throwing. `format` is one of `voiceFormatOf`. */
  obtain(clip: ClipFile, text: string, format: LegFormat): RenderedSpeech {
    const key = JSON.stringify([clip.clipId, format.codec, format.rateHz, text]);
    const known = this.#memory.get(key);
    this.#memory.delete(key);
    const speech = known !== undefined && known.error === null ? known : this.#begin(clip, text, format);
    this.#memory.set(key, speech);
    this.#makeRoom();
    return speech;
  }

  #begin(clip: ClipFile, text: string, format: LegFormat): RenderedSpeech {
    const speech = new RenderedSpeech(text, format);
    // Nobody knows where its words are: they share its time, as those of a voice without word times do.
    addWords(speech.words, text, 0, text.length, 0, clip.durationMs);
    this.#fill(clip, format, speech).catch((error: unknown) => {
      speech.fail(error instanceof Error ? error : new Error(String(error)));
      this.#logger.warn({ err: error, clipId: clip.clipId }, 'a clip cannot be played');
    });
    return speech;
  }

  async #fill(clip: ClipFile, format: LegFormat, speech: RenderedSpeech): Promise<void> {
    const kept = await this.#source.kept(clip, format);
    if (kept !== null && kept.length % speech.frameBytes === 0) {
      const at = speech.reserve(kept.length);
      if (at >= 0) {
        speech.bytes.set(kept, at);
        speech.advance(kept.length);
        speech.finish();
        return;
      }
    }
    const encoder = await LegEncoder.create(speech, CLIP_RATE_HZ);
    try {
      for await (const samples of this.#source.sound(clip)) encoder.encode(samples);
      encoder.flush();
    } finally {
      encoder.close();
    }
    speech.finish();
    await this.#source
      .keep(clip, format, speech.bytes.subarray(0, speech.frames * speech.frameBytes))
      .catch((error: unknown) =>
        this.#logger.warn({ err: error, clipId: clip.clipId }, 'a rendered clip was not kept'),
      );
  }

  #makeRoom(): void {
    let bytes = 0;
    for (const { bytes: held } of this.#memory.values()) bytes += held.length;
    for (const [key, { bytes: held }] of this.#memory) {
      if (bytes <= MOST_BYTES || this.#memory.size === 1) return;
      this.#memory.delete(key);
      bytes -= held.length;
    }
  }
}
