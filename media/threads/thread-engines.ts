/**
 * The engines of one pipeline thread, by their names in the registry: each is loaded at its first use, or as soon as
 * there are threads of its own, and led to those of now. What cannot be had is refused where a call begins, with the
 * way out. The pipeline thread makes one.
 */
import type { MessagePort } from 'node:worker_threads';
import { createResampler } from '../audio/resampler.ts';
import type { EarFactory } from '../contract/ear.ts';
import type {
  CallUse,
  EarKind,
  EngineKind,
  EnginePorts,
  EngineThreads,
  EngineUse,
  ListenRateHz,
  ModelKind,
  OpenEar,
  OpenModel,
  OpenVoice,
  VoiceKind,
} from '../contract/engine-kinds.ts';
import type { TextToSpeech } from '../contract/engines.ts';
import type { LanguageModel } from '../contract/model.ts';
import { withPackages } from '../engines/missing-package.ts';
import { EARS, engineOf, MODELS, VOICES } from '../engines/registry.ts';
import { resampledEar } from '../engines/resampled-ear.ts';

const SETTINGS: Readonly<Record<EngineThreads, string>> = {
  listen: 'PARLEY_LISTEN_THREADS',
  speech: 'PARLEY_SPEECH_THREADS',
  provider: 'PARLEY_PROVIDER_THREADS',
};
/** Of a telephone's leg: its resampler is made once ahead, so that no call waits for the module to load. */
const LEG_RATE_HZ = 8000;

export interface ThreadEnginesOptions {
  ears?: readonly EarKind<MessagePort>[];
  voices?: readonly VoiceKind<MessagePort>[];
  models?: readonly ModelKind<MessagePort>[];
}

/** Of whoever needs none. */
const NO_CONNECTION: CallUse = { callUuid: '', connection: null, settings: {} };

/** Throws where the call has not been granted the connection that the agent names. */
export function callUseOf(
  use: EngineUse,
  { callUuid, granted = [] }: { callUuid: string; granted?: readonly string[] },
): CallUse {
  const { engine, connection = null, settings = {} } = use;
  if (connection === null || granted.includes(connection)) return { callUuid, connection, settings };
  throw new Error(
    `The agent uses '${engine}' with the connection '${connection}', which its workspace does not have, or whose credentials cannot be read.`,
  );
}

export class ThreadEngines {
  readonly #earKinds: readonly EarKind<MessagePort>[];
  readonly #voiceKinds: readonly VoiceKind<MessagePort>[];
  readonly #ears = new Map<string, Promise<OpenEar>>();
  readonly #voices = new Map<string, Promise<OpenVoice>>();
  readonly #modelKinds: readonly ModelKind<MessagePort>[];
  readonly #models = new Map<string, Promise<OpenModel>>();
  #ports: EnginePorts<MessagePort> = {};

  constructor({ ears = EARS, voices = VOICES, models = MODELS }: ThreadEnginesOptions = {}) {
    this.#modelKinds = models;
    this.#earKinds = ears;
    this.#voiceKinds = voices;
  }

  /** Calls that hold an engine go on with the new ports. Resolves when the engines that have threads are loaded. */
  async usePorts(ports: EnginePorts<MessagePort>): Promise<void> {
    this.#ports = ports;
    // Most services have no connections: what speaks with providers is loaded by the first call that does.
    const isThere = ({ threads }: EngineKind): boolean =>
      threads !== null && threads !== 'provider' && ports[threads] !== undefined;
    await Promise.all([
      ...this.#earKinds.filter(isThere).map((kind) => this.#loadEar(kind)),
      ...this.#voiceKinds.filter(isThere).map((kind) => this.#loadVoice(kind)),
    ]);
  }

  /** For one call, whose frames are of `listenRateHz`. */
  async ear(name: string, listenRateHz: ListenRateHz, use = NO_CONNECTION): Promise<EarFactory> {
    const kind = engineOf(this.#earKinds, 'recogniser', name);
    this.#portOf(kind);
    const open = await this.#loadEar(kind);
    const rateHz = rateFor(kind.traits.ratesHz, listenRateHz);
    if (rateHz === listenRateHz) return open(rateHz, use);
    return resampledEar(open(rateHz, use), await createResampler(listenRateHz, rateHz));
  }

  async voice(name: string, use = NO_CONNECTION): Promise<TextToSpeech> {
    const kind = engineOf(this.#voiceKinds, 'voice engine', name);
    this.#portOf(kind);
    return (await this.#loadVoice(kind))(use);
  }

  async model(name: string, use: CallUse): Promise<LanguageModel> {
    const kind = engineOf(this.#modelKinds, 'language model', name);
    this.#portOf(kind);
    const open = await loadedOnce(this.#models, kind.name, async () => {
      const create = await withPackages(`The language model '${kind.name}'`, kind.packages, () => kind.load());
      return create(() => this.#portOf(kind));
    });
    return open(use);
  }

  #loadEar(kind: EarKind<MessagePort>): Promise<OpenEar> {
    return loadedOnce(this.#ears, kind.name, async () => {
      const create = await withPackages(`The recogniser '${kind.name}'`, kind.packages, () => kind.load());
      return create(() => this.#portOf(kind));
    });
  }

  #loadVoice(kind: VoiceKind<MessagePort>): Promise<OpenVoice> {
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
