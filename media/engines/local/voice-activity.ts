/**
 * The voice-activity gate: WebRTC's voice activity detector (fvad, WebAssembly) in its strictest mode, behind the
 * `VoiceActivity` port. Called by the pipeline for each 20 ms frame of each call: 3 µs, no allocation. One module and
 * heap serve all calls of a thread. It finds speech in quiet lines well and takes tones, music and loud noise for
 * speech: see docs/decisions/embedded-engines.md.
 */
import createFvad, { type FvadModule } from '@echogarden/fvad-wasm';
import { FRAME_MS } from '../../contract/audio-format.ts';
import type { VoiceActivity } from '../../contract/engines.ts';

const STRICTEST_MODE = 3;

/**
 * Loads the module (10 to 25 ms); the function it gives makes one gate a call, for 8, 16, 32 or
 * 48 kHz, and throws for another rate.
 */
export async function loadVoiceActivity(): Promise<(rateHz: number) => VoiceActivity> {
  const fvad = await createFvad();
  return (rateHz) => new FvadGate(fvad, rateHz);
}

class FvadGate implements VoiceActivity {
  readonly #fvad: FvadModule;
  readonly #frameSamples: number;
  readonly #frame: number;
  #gate: number;

  constructor(fvad: FvadModule, rateHz: number) {
    this.#fvad = fvad;
    this.#frameSamples = (rateHz * FRAME_MS) / 1000;
    this.#gate = fvad._fvad_new();
    if (this.#gate === 0) throw new Error('voice gate: no memory for another call');
    if (fvad._fvad_set_sample_rate(this.#gate, rateHz) !== 0) {
      fvad._fvad_free(this.#gate);
      throw new RangeError(`voice gate: the rate may be 8000, 16000, 32000 or 48000 Hz, not ${rateHz}`);
    }
    fvad._fvad_set_mode(this.#gate, STRICTEST_MODE);
    this.#frame = fvad._malloc(this.#frameSamples * 2);
    if (this.#frame === 0) {
      fvad._fvad_free(this.#gate);
      throw new Error('voice gate: no memory for another call');
    }
  }

  /** False for a frame of another length than 20 ms, and after `close`. */
  isSpeech(monoSamples: Int16Array): boolean {
    if (this.#gate === 0 || monoSamples.length !== this.#frameSamples) return false;
    const heap = this.#fvad.HEAP16;
    const at = this.#frame >> 1;
    for (let i = 0; i < monoSamples.length; i++) heap[at + i] = monoSamples[i]!;
    return this.#fvad._fvad_process(this.#gate, this.#frame, this.#frameSamples) === 1;
  }

  close(): void {
    if (this.#gate === 0) return;
    this.#fvad._fvad_free(this.#gate);
    this.#fvad._free(this.#frame);
    this.#gate = 0;
  }
}
