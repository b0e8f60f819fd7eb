/**
 * What comes through a web session's record ring → the form that its recording is kept in: PCM at 16 kHz, whatever each
 * direction's codec. Runs on the recorder thread, one instance a direction; Opus needs its packets in order. Telephone
 * legs are kept as they are.
 */
import { decodeMulaw } from '../audio/g711.ts';
import type { OpusCodec, OpusDecoder } from '../audio/opus-codec.ts';
import { createResampler, type Resampler } from '../audio/resampler.ts';
import type { LegFormat } from '../contract/audio-format.ts';

export interface LegDecoder {
  /** The last frame in the recording's form, from its start. */
  readonly bytes: Uint8Array;
  /** False until what it needs has been loaded: leave the frame in the ring. */
  readonly isReady: boolean;
  /** Returns the bytes that it made; 0 for what cannot be decoded. */
  decode(source: Uint8Array, start: number, lengthBytes: number): number;
  close(): void;
}

const LONGEST_PACKET_MS = 120;
const FIRST_ROOM_SAMPLES = 1920;

/** Null: the direction has the recording's form already. */
export function createLegDecoder(
  from: LegFormat,
  to: LegFormat,
  codec: Pick<OpusCodec, 'createDecoder'>,
): LegDecoder | null {
  if (from.codec === to.codec && from.rateHz === to.rateHz) return null;
  if (from.codec === 'opus') return opusDecoder(codec.createDecoder({ rateHz: to.rateHz, channels: 1 }), to.rateHz);
  return new ResamplingDecoder(from, to.rateHz);
}

function opusDecoder(decoder: OpusDecoder, rateHz: number): LegDecoder {
  const samples = new Int16Array((rateHz * LONGEST_PACKET_MS) / 1000);
  const bytes = new Uint8Array(samples.length * 2);
  return {
    bytes,
    isReady: true,
    decode(source, start, lengthBytes) {
      const count = decoder.decode(source, start, lengthBytes, samples);
      return count <= 0 ? 0 : putSamples(samples, count, bytes);
    },
    close: () => decoder.close(),
  };
}

class ResamplingDecoder implements LegDecoder {
  bytes = new Uint8Array(FIRST_ROOM_SAMPLES * 2);
  isReady = false;
  readonly #from: LegFormat;
  #samples = new Int16Array(FIRST_ROOM_SAMPLES);
  #resampler: Resampler | null = null;
  #isClosed = false;

  constructor(from: LegFormat, rateHz: number) {
    this.#from = from;
    if (from.rateHz === rateHz) {
      this.isReady = true;
      return;
    }
    createResampler(from.rateHz, rateHz).then(
      (resampler) => {
        if (this.#isClosed) resampler.close();
        else {
          this.#resampler = resampler;
          this.isReady = true;
        }
      },
      () => {},
    );
  }

  decode(source: Uint8Array, start: number, lengthBytes: number): number {
    const isMulaw = this.#from.codec === 'mulaw';
    const count = isMulaw ? lengthBytes : lengthBytes >> 1;
    if (this.#samples.length !== count) this.#samples = new Int16Array(count);
    const samples = this.#samples;
    if (isMulaw) decodeMulaw(source, start, count, samples, 0);
    else for (let i = 0; i < count; i++) samples[i] = source[start + 2 * i]! | (source[start + 2 * i + 1]! << 8);
    const made = this.#resampler === null ? samples : this.#resampler.process(samples);
    if (this.bytes.length < made.length * 2) this.bytes = new Uint8Array(made.length * 2);
    return putSamples(made, made.length, this.bytes);
  }

  close(): void {
    this.#isClosed = true;
    this.#resampler?.close();
  }
}

function putSamples(samples: Int16Array, count: number, bytes: Uint8Array): number {
  for (let i = 0; i < count; i++) {
    bytes[2 * i] = samples[i]! & 0xff;
    bytes[2 * i + 1] = (samples[i]! >> 8) & 0xff;
  }
  return count * 2;
}
