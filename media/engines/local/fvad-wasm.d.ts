/** The package has no types. Its heap grows while it runs: read `HEAP16` from the module after each allocation. */
declare module '@echogarden/fvad-wasm' {
  export interface FvadModule {
    readonly HEAP16: Int16Array;
    _malloc(bytes: number): number;
    _free(pointer: number): void;
    /** 0 when there is no memory. */
    _fvad_new(): number;
    _fvad_free(gate: number): void;
    /** 0 (least sure that it is no speech) to 3; -1 for another mode. */
    _fvad_set_mode(gate: number, mode: number): number;
    /** 8000, 16000, 32000 or 48000; -1 for another rate. */
    _fvad_set_sample_rate(gate: number, rateHz: number): number;
    /** 1 speech, 0 none, -1 for a frame that is not 10, 20 or 30 ms long. */
    _fvad_process(gate: number, samples: number, count: number): number;
  }
  export default function createFvad(): Promise<FvadModule>;
}
