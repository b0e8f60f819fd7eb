/** The part of the untyped package that `resampler.ts` uses: libspeexdsp's C interface over one WebAssembly heap. */
declare module '@echogarden/speex-resampler-wasm/simd' {
  export interface SpeexModule {
    /** Replaced when the heap grows: read it anew after every `_malloc` and `_speex_resampler_…` call. */
    readonly HEAP16: Int16Array;
    readonly HEAPU32: Uint32Array;
    _malloc(bytes: number): number;
    _free(pointer: number): void;
    _speex_resampler_init(channels: number, fromHz: number, toHz: number, quality: number, error: number): number;
    _speex_resampler_destroy(state: number): void;
    _speex_resampler_reset_mem(state: number): number;
    _speex_resampler_get_input_latency(state: number): number;
    _speex_resampler_process_int(
      state: number,
      channel: number,
      input: number,
      inputSamples: number,
      output: number,
      outputSamples: number,
    ): number;
  }
  export default function createModule(): Promise<SpeexModule>;
}
