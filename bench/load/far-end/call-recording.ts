/**
 * The sound of one call as its far end had it: left what it said, right what it heard, mu-law 8 kHz, in memory that is
 * bounded. Written by the phone; made a WAV file of if the call turns out to be one of the worst.
 */
import { WAV_HEADER_BYTES, writeWavHeader } from '../../../media/audio/wav.ts';
import { MULAW_SILENCE } from '../../../media/contract/audio-format.ts';

const SAMPLES_PER_MS = 8;
const RATE_HZ = 8_000;
const FIRST_MS = 16_000;
/** Nothing later is kept: 2 x 1.4 MB. */
const LONGEST_MS = 180_000;

export class CallRecording {
  readonly #beganAtMs: number;
  #left = new Uint8Array(0);
  #right = new Uint8Array(0);
  #samples = 0;

  /** The recording's first instant is the answer. */
  constructor(answeredAtMs: number) {
    this.#beganAtMs = answeredAtMs;
  }

  get bytes(): number {
    return this.#left.length * 2;
  }

  /** The far end said `mulaw`, up to `atMs`. */
  said(atMs: number, mulaw: Uint8Array): void {
    const start = this.#place(atMs - mulaw.length / SAMPLES_PER_MS, mulaw.length);
    if (start >= 0) this.#left.set(mulaw, start);
  }

  /** It hears `mulaw` from `atMs` on, unless that is cleared. */
  heard(atMs: number, mulaw: Uint8Array): void {
    const start = this.#place(atMs, mulaw.length);
    if (start >= 0) this.#right.set(mulaw, start);
  }

  cleared(atMs: number): void {
    this.#right.fill(MULAW_SILENCE, Math.max(0, this.#sampleAt(atMs)), this.#samples);
  }

  /** Stereo WAV up to `endMs`. */
  toWav(endMs: number): Uint8Array {
    const samples = Math.max(0, Math.min(this.#samples, this.#sampleAt(endMs)));
    const wav = new Uint8Array(WAV_HEADER_BYTES + samples * 2);
    writeWavHeader(wav, { codec: 'mulaw', rateHz: RATE_HZ, channels: 2, dataBytes: samples * 2 });
    for (let i = 0; i < samples; i++) {
      wav[WAV_HEADER_BYTES + i * 2] = this.#left[i]!;
      wav[WAV_HEADER_BYTES + i * 2 + 1] = this.#right[i]!;
    }
    return wav;
  }

  #sampleAt(atMs: number): number {
    return Math.round((atMs - this.#beganAtMs) * SAMPLES_PER_MS);
  }

  /**
   * Where so many samples from `atMs` on begin, with room for them; negative: before the answer, or too late to keep.
   */
  #place(atMs: number, samples: number): number {
    const start = this.#sampleAt(atMs);
    const end = start + samples;
    if (start < 0 || end > LONGEST_MS * SAMPLES_PER_MS) return -1;
    if (end > this.#left.length) {
      const room = Math.max(FIRST_MS * SAMPLES_PER_MS, this.#left.length * 2, end);
      this.#left = grown(this.#left, room);
      this.#right = grown(this.#right, room);
    }
    this.#samples = Math.max(this.#samples, end);
    return start;
  }
}

function grown(bytes: Uint8Array<ArrayBuffer>, room: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(room).fill(MULAW_SILENCE);
  larger.set(bytes);
  return larger;
}
