/**
 * Changes the rate of a mono stream: speexdsp's resampler at quality 3, WASM SIMD (98 dB, alias at most -85 dB, flat to
 * 0.4 of the lower rate; 1.8 µs a 20 ms frame between 8 and 16 kHz, warm). Called by pipeline, engines and recorder,
 * one instance a stream and direction. One WebAssembly heap serves all instances of a thread. The file's only other
 * duty is to hide that heap.
 */
import createSpeexModule, { type SpeexModule } from '@echogarden/speex-resampler-wasm/simd';

export interface Resampler {
  readonly fromHz: number;
  readonly toHz: number;
  /**
   * Takes any number of samples, gives `samples.length × toHz / fromHz` of them (to the nearest one, with no drift).
   * The output runs some ms late (24 samples of the lower rate: 3 ms at 8 kHz); `flush` gives the rest. The view is
   * valid until the next call of any resampler of this thread. Nothing is allocated while calls are of one length.
   */
  process(samples: Int16Array): Int16Array;
  /** The samples still inside, then the resampler is as new. Same view rules. */
  flush(): Int16Array;
  /** Idempotent; `process` after it throws. */
  close(): void;
}

const QUALITY = 3;
/** Room for 20 ms at 48 kHz from the start; longer calls make room for themselves. */
const FIRST_ROOM_SAMPLES = 960;
const NOTHING = new Int16Array(0);

let loading: Promise<SpeexModule> | undefined;

/** Rejects when a rate is no positive whole number or the WebAssembly module cannot be loaded. */
export async function createResampler(fromHz: number, toHz: number): Promise<Resampler> {
  if (!Number.isInteger(fromHz) || !Number.isInteger(toHz) || fromHz <= 0 || toHz <= 0) {
    throw new RangeError(`createResampler: rates must be whole numbers above 0, not ${fromHz} and ${toHz}`);
  }
  loading ??= createSpeexModule();
  return new SpeexResampler(await loading, fromHz, toHz);
}

class SpeexResampler implements Resampler {
  readonly fromHz: number;
  readonly toHz: number;
  readonly #speex: SpeexModule;
  readonly #latencySamples: number;
  #state: number;
  /** Two 32-bit lengths, in and out, that the C function reads and overwrites. */
  readonly #lengths: number;
  #input = 0;
  #output = 0;
  #roomSamples = 0;
  #outputRoomSamples = 0;
  #view: Int16Array = NOTHING;

  constructor(speex: SpeexModule, fromHz: number, toHz: number) {
    this.fromHz = fromHz;
    this.toHz = toHz;
    this.#speex = speex;
    this.#lengths = speex._malloc(8);
    this.#state = speex._speex_resampler_init(1, fromHz, toHz, QUALITY, this.#lengths);
    if (this.#state === 0) {
      speex._free(this.#lengths);
      throw new Error(`createResampler: no memory for a resampler from ${fromHz} to ${toHz} Hz`);
    }
    this.#latencySamples = speex._speex_resampler_get_input_latency(this.#state);
    this.#makeRoom(FIRST_ROOM_SAMPLES);
  }

  process(samples: Int16Array): Int16Array {
    if (this.#state === 0) throw new Error('resampler: process() after close()');
    if (samples.length > this.#roomSamples) this.#makeRoom(samples.length);
    this.#speex.HEAP16.set(samples, this.#input >> 1);
    return this.#run(samples.length);
  }

  flush(): Int16Array {
    if (this.#state === 0) throw new Error('resampler: flush() after close()');
    const from = this.#input >> 1;
    this.#speex.HEAP16.fill(0, from, from + this.#latencySamples);
    const rest = this.#run(this.#latencySamples);
    this.#speex._speex_resampler_reset_mem(this.#state);
    return rest;
  }

  close(): void {
    if (this.#state === 0) return;
    this.#speex._speex_resampler_destroy(this.#state);
    this.#speex._free(this.#lengths);
    this.#speex._free(this.#input);
    this.#speex._free(this.#output);
    this.#state = 0;
    this.#view = NOTHING;
  }

  #run(inputSamples: number): Int16Array {
    const speex = this.#speex;
    const lengths = this.#lengths >> 2;
    speex.HEAPU32[lengths] = inputSamples;
    speex.HEAPU32[lengths + 1] = this.#outputRoomSamples;
    speex._speex_resampler_process_int(this.#state, 0, this.#input, this.#lengths, this.#output, this.#lengths + 4);
    const outputSamples = speex.HEAPU32[lengths + 1]!;
    if (this.#view.length !== outputSamples || this.#view.buffer !== speex.HEAP16.buffer) {
      const from = this.#output >> 1;
      this.#view = speex.HEAP16.subarray(from, from + outputSamples);
    }
    return this.#view;
  }

  #makeRoom(inputSamples: number): void {
    const speex = this.#speex;
    if (this.#input !== 0) speex._free(this.#input);
    if (this.#output !== 0) speex._free(this.#output);
    this.#roomSamples = Math.max(inputSamples, this.#latencySamples);
    this.#outputRoomSamples = Math.ceil((this.#roomSamples * this.toHz) / this.fromHz) + 1;
    this.#input = speex._malloc(this.#roomSamples * 2);
    this.#output = speex._malloc(this.#outputRoomSamples * 2);
    if (this.#input === 0 || this.#output === 0) throw new Error(`resampler: no memory for ${inputSamples} samples`);
    this.#view = NOTHING;
  }
}
