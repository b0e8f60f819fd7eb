/**
 * The engines of one pipeline thread, by their names in the registry: each is loaded at its first use, or as soon as
 * there are threads of its own, and led to those of now. What cannot be had is refused where a call begins, with the
 * way out. The pipeline thread makes one.
 */
import type { MessagePort } from 'node:worker_threads';
import { createResampler } from '../audio/resampler.ts';
import type { EarFactory } from '../contract/ear.ts';
import type {
  EarKind,
  EngineKind,
  EnginePorts,
  EngineThreads,
  ListenRateHz,
  OpenEar,
  VoiceKind,
} from '../contract/engine-kinds.ts';
import type { TextToSpeech } from '../contract/engines.ts';
import { withPackages } from '../engines/missing-package.ts';
import { EARS, engineOf, VOICES } from '../engines/registry.ts';
import { resampledEar } from '../engines/resampled-ear.ts';

const SETTINGS: Readonly<Record<EngineThreads, string>> = {
  stt: 'PARLEY_LISTEN_THREADS',
  tts: 'PARLEY_SPEECH_THREADS',
};
/** Of a telephone's leg: its resampler is made once ahead, so that no call waits for the module to load. */
const LEG_RATE_HZ = 8000;

export interface ThreadEnginesOptions {
  ears?: readonly EarKind<MessagePort>[];
  voices?: readonly VoiceKind<MessagePort>[];
}

export class ThreadEngines {
  readonly #earKinds: readonly EarKind<MessagePort>[];
  readonly #voiceKinds: readonly VoiceKind<MessagePort>[];
  readonly #ears = new Map<string, Promise<OpenEar>>();
  readonly #voices = new Map<string, Promise<TextToSpeech>>();
  #ports: EnginePorts<MessagePort> = {};

  constructor({ ears = EARS, voices = VOICES }: ThreadEnginesOptions = {}) {
    this.#earKinds = ears;
    this.#voiceKinds = voices;
  }

  /** Calls that hold an engine go on with the new ports. Resolves when the engines that have threads are loaded. */
  async usePorts(ports: EnginePorts<MessagePort>): Promise<void> {
    this.#ports = ports;
    const isThere = ({ threads }: EngineKind): boolean => threads !== null && ports[threads] !== undefined;
    await Promise.all([
      ...this.#earKinds.filter(isThere).map((kind) => this.#loadEar(kind)),
      ...this.#voiceKinds.filter(isThere).map((kind) => this.#loadVoice(kind)),
    ]);
  }

  /** For one call, whose frames are of `listenRateHz`. */
  async ear(name: string, listenRateHz: ListenRateHz): Promise<EarFactory> {
    const kind = engineOf(this.#earKinds, 'recogniser', name);
    this.#portOf(kind);
    const open = await this.#loadEar(kind);
    const rateHz = rateFor(kind.traits.ratesHz, listenRateHz);
    if (rateHz === listenRateHz) return open(rateHz);
    return resampledEar(open(rateHz), await createResampler(listenRateHz, rateHz));
  }

  async voice(name: string): Promise<TextToSpeech> {
    const kind = engineOf(this.#voiceKinds, 'voice engine', name);
    this.#portOf(kind);
    return this.#loadVoice(kind);
  }

  #loadEar(kind: EarKind<MessagePort>): Promise<OpenEar> {
    return loadedOnce(this.#ears, kind.name, async () => {
      const create = await withPackages(`The recogniser '${kind.name}'`, kind.packages, () => kind.load());
      return create(() => this.#portOf(kind));
    });
  }

  #loadVoice(kind: VoiceKind<MessagePort>): Promise<TextToSpeech> {
    return loadedOnce(this.#voices, kind.name, async () => {
      const create = await withPackages(`The voice engine '${kind.name}'`, kind.packages, () => kind.load());
      (await createResampler(kind.traits.rateHz, LEG_RATE_HZ)).close();
      return create(() => this.#portOf(kind));
    });
  }

  /** Throws where its threads are wanted and there are none. */
  #portOf({ name, threads }: EngineKind): MessagePort {
    const port = threads === null ? undefined : this.#ports[threads];
    // An engine without threads never asks.
    if (port !== undefined || threads === null) return port as MessagePort;
    throw new Error(
      `The engine '${name}' works in ${threads} threads and this media process has none: set ${SETTINGS[threads]} to 1 or more.`,
    );
  }
}

/** What could not be loaded is tried again by the next who asks: a package may have been installed. */
function loadedOnce<Engine>(all: Map<string, Promise<Engine>>, name: string, load: () => Promise<Engine>) {
  const known = all.get(name);
  if (known !== undefined) return known;
  const loading = load();
  all.set(name, loading);
  loading.catch(() => all.delete(name));
  return loading;
}

/** The lowest that loses nothing, else the highest. */
function rateFor(ratesHz: readonly number[], listenRateHz: number): number {
  const enough = ratesHz.filter((rateHz) => rateHz >= listenRateHz);
  return enough.length > 0 ? Math.min(...enough) : Math.max(...ratesHz);
}
