/** The global scope of an AudioWorklet (W3C Web Audio §1.32), which TypeScript's DOM library leaves out. */
declare const sampleRate: number;
declare function registerProcessor(name: string, processor: new () => AudioWorkletProcessor): void;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
