/** The capture worklet: the microphone in, frames of 20 ms out, at the rate and in the shape that the codec wants. */
import type { FromCapture, ToCapture } from './messages.ts';
import { createResampler, type Resampler } from './resampler.ts';

const FRAME_MS = 20;
const MAX_BLOCK_SAMPLES = 2048;

export class CaptureProcessor extends AudioWorkletProcessor {
  #resampler: Resampler | null = null;
  #asFloat = false;
  #frame = new Float32Array(0);
  #filled = 0;

  constructor() {
    super();
    this.port.onmessage = ({ data }: MessageEvent<ToCapture>) => {
      this.#resampler = createResampler(sampleRate, data.rateHz, MAX_BLOCK_SAMPLES);
      this.#asFloat = data.asFloat;
      this.#frame = new Float32Array((data.rateHz * FRAME_MS) / 1000);
      this.#filled = 0;
    };
  }

  process(inputs: Float32Array[][]): boolean {
    const input = inputs[0]?.[0];
    if (input === undefined || this.#resampler === null) return true;
    const samples = this.#resampler.push(input);
    for (let i = 0; i < samples.length; i++) {
      this.#frame[this.#filled++] = samples[i]!;
      if (this.#filled === this.#frame.length) this.#send();
    }
    return true;
  }

  #send(): void {
    const length = this.#frame.length;
    const out = this.#asFloat ? new Float32Array(length) : new Int16Array(length);
    let energy = 0;
    for (let i = 0; i < length; i++) {
      const sample = Math.max(-1, Math.min(1, this.#frame[i]!));
      energy += sample * sample;
      out[i] = this.#asFloat ? sample : Math.round(sample * 32767);
    }
    this.#filled = 0;
    const message: FromCapture = { frame: out.buffer as ArrayBuffer, level: Math.sqrt(energy / length) };
    this.port.postMessage(message, [message.frame]);
  }
}
