/**
 * A sound that is repeated for as long as the call lasts, as speech of a leg: encoded once for each codec and shared by
 * all calls that play the same `SoundLoop`. It is made at once, without waiting for a resampler, so its rate must be
 * the leg's.
 */
import { encodeMulaw } from '../../audio/g711.ts';
import { frameBytesOf, type LegFormat } from '../../contract/audio-format.ts';
import type { SoundLoop } from '../../contract/speech-source.ts';
import { RenderedSpeech } from './rendered-speech.ts';

const made = new WeakMap<SoundLoop, Map<LegFormat['codec'], LoopedSpeech>>();

class LoopedSpeech extends RenderedSpeech {
  readonly #loopFrames: number;

  constructor(loop: SoundLoop, format: LegFormat) {
    super('', format);
    this.bytes = loopBytes(loop, format);
    this.#loopFrames = this.bytes.length / this.frameBytes;
    this.frames = Number.MAX_SAFE_INTEGER;
  }

  override offsetOf(frame: number): number {
    return (frame % this.#loopFrames) * this.frameBytes;
  }
}

/** Throws when the loop is not of the leg's rate, or not of whole frames. */
export function loopedSpeech(loop: SoundLoop, format: LegFormat): RenderedSpeech {
  const byCodec = made.get(loop) ?? new Map<LegFormat['codec'], LoopedSpeech>();
  made.set(loop, byCodec);
  const speech = byCodec.get(format.codec) ?? new LoopedSpeech(loop, format);
  byCodec.set(format.codec, speech);
  return speech;
}

export function loopBytes({ samples, rateHz }: SoundLoop, format: LegFormat): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(format.codec === 'mulaw' ? samples.length : samples.length * 2);
  if (rateHz !== format.rateHz || bytes.length === 0 || bytes.length % frameBytesOf(format) !== 0) {
    throw new Error(`a loop of ${samples.length} samples at ${rateHz} Hz does not fit frames of ${format.rateHz} Hz`);
  }
  if (format.codec === 'mulaw') encodeMulaw(samples, 0, samples.length, bytes, 0);
  else bytes.set(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength));
  return bytes;
}
