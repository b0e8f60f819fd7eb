/**
 * Loads soundswallower (PocketSphinx in WebAssembly) and names the C functions of it that we call. One module, and one heap, for all
 * decoders of a thread. Only the listen thread and tests load it. Its traps: it adds an `uncaughtException` listener that prints its
 * whole source, which is taken off again here; a broken invariant in it calls `process.exit`, which in a worker ends the worker only.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** What the package's own class offers; its types leave most of this out. */
export interface RawDecoder {
  readonly cdecoder: number;
  readonly cacmod: number;
  initialize(): Promise<void>;
  init_featparams(): Promise<unknown>;
  set_config(key: string, value: string | number): boolean;
  add_words(...words: [word: string, pronunciation: string][]): void;
  start(): void;
  stop(): void;
  process_audio(samples: Float32Array, noSearch: boolean, wholeUtterance: boolean): number;
  get_text(): string;
  /** Times in seconds. */
  get_alignment(): { w?: { t: string; b: number; d: number; p: number }[] };
  spectrogram(samples: Float32Array): { data: Float32Array; nfr: number; nfeat: number };
  delete(): void;
}

/** Pointers are numbers. A grammar handed to `_decoder_set_fsg` belongs to the decoder. */
export interface SoundswallowerModule {
  readonly HEAP8: Int8Array;
  readonly Decoder: new (config: Record<string, string | number | boolean>) => RawDecoder;
  _malloc(bytes: number): number;
  _free(pointer: number): void;
  _decoder_logmath(decoder: number): number;
  _decoder_init_fe(decoder: number): number;
  _decoder_init_feat_s3file(decoder: number, transform: number): number;
  _acmod_reinit_feat(acousticModel: number, frontEnd: number, features: number): number;
  _fsg_model_init(name: number, logMath: number, languageWeight: number, states: number): number;
  _fsg_model_word_add(grammar: number, word: number): number;
  _fsg_model_trans_add(grammar: number, from: number, to: number, logProbability: number, word: number): void;
  _fsg_set_states(grammar: number, start: number, final: number): void;
  _decoder_set_fsg(decoder: number, grammar: number): number;
}

const entry = createRequire(import.meta.url).resolve('soundswallower/jsonly');
const folder = dirname(dirname(entry));

/** The folder of the packaged models, with a slash at its end: the package's own default depends on where Node was started. */
export function modelFolder(): string {
  return join(folder, 'model/');
}

export async function loadSoundswallower(): Promise<SoundswallowerModule> {
  const before = process.listeners('uncaughtException');
  const { default: create } = (await import(pathToFileURL(join(folder, 'soundswallower.node.js')).href)) as {
    default: (options: object) => Promise<SoundswallowerModule>;
  };
  const silence = (): void => {};
  const module = await create({ modelBase: modelFolder(), print: silence, printErr: silence });
  for (const listener of process.listeners('uncaughtException')) {
    if (!before.includes(listener)) process.off('uncaughtException', listener);
  }
  return module;
}
