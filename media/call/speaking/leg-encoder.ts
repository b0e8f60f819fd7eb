/**
 * Voice engine's samples → the leg's rate and codec, appended to a `RenderedSpeech`: the one conversion of the downlink
 * chain. One encoder an utterance (the resampler has a memory). Called chunk by chunk, never per frame.
 */
import { encodeMulaw } from '../../audio/g711.ts';
import { createResampler, type Resampler } from '../../audio/resampler.ts';
import type { LegFormat } from '../../contract/audio-format.ts';
import type { RenderedSpeech } from './rendered-speech.ts';

export class LegEncoder {
  readonly #speech: RenderedSpeech;
  readonly #resampler: Resampler | null;

  private constructor(speech: RenderedSpeech, resampler: Resampler | null) {
    this.#speech = speech;
    this.#resampler = resampler;
  }

  static async create(speech: RenderedSpeech, fromHz: number): Promise<LegEncoder> {
    const toHz = speech.format.rateHz;
    return new LegEncoder(speech, fromHz === toHz ? null : await createResampler(fromHz, toHz));
  }

  /** False when the utterance is too long: the samples are dropped. */
  encode(monoSamples: Int16Array): boolean {
    return this.#append(this.#resampler === null ? monoSamples : this.#resampler.process(monoSamples));
  }

  /** As above, of sound that is in the leg's own form: nothing is done to it. */
  append(mulawBytes: Uint8Array): boolean {
    const at = this.#speech.reserve(mulawBytes.length);
    if (at < 0) return false;
    this.#speech.bytes.set(mulawBytes, at);
    this.#speech.advance(mulawBytes.length);
    return true;
  }

  /** Appends what is still inside the resampler. */
  flush(): void {
    if (this.#resampler !== null) this.#append(this.#resampler.flush());
  }

  close(): void {
    this.#resampler?.close();
  }

  #append(samples: Int16Array): boolean {
    const lengthBytes = bytesOf(samples.length, this.#speech.format);
    const at = this.#speech.reserve(lengthBytes);
    if (at < 0) return false;
    if (this.#speech.format.codec === 'mulaw') {
      encodeMulaw(samples, 0, samples.length, this.#speech.bytes, at);
    } else {
      for (let i = 0; i < samples.length; i++) {
        this.#speech.bytes[at + 2 * i] = samples[i]! & 0xff;
        this.#speech.bytes[at + 2 * i + 1] = (samples[i]! >> 8) & 0xff;
      }
    }
    this.#speech.advance(lengthBytes);
    return true;
  }
}

function bytesOf(samples: number, format: LegFormat): number {
  return format.codec === 'mulaw' ? samples : samples * 2;
}
