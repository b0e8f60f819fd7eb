/**
 * What an engine declares of itself before any of it is loaded: an entry of `media/engines/registry.ts`. An agent's
 * kind names the engines that it wants (`EngineChoice`); a pipeline thread loads each at its first use. Types only;
 * `Port` is a `MessagePort` of `node:worker_threads`, which this leaf may not import.
 */
import type { EarCodec, EarFactory, EarTraits } from './ear.ts';
import type { TextToSpeech } from './engines.ts';
import type { LanguageModel } from './model.ts';

/** An engine by its name in the registry, and how it is used. */
export interface EngineUse {
  engine: string;
  /** By whose key: the name of a connection of the workspace. Absent: a local engine, which needs none. */
  connection?: string;
  /** The engine's own: model, keyterms and the like. Checked where the agent was imported. */
  settings?: Readonly<Record<string, unknown>>;
}

/** `name`: what its engine calls the voice. */
export type VoiceUse = EngineUse & { name: string };

/** Engines of one agent. Where there are several of a kind, the first that can be had is used, the others stand by. */
export interface EngineChoice {
  /** Null: nothing is heard. */
  ear: EngineUse | null;
  /** Null: nothing is said in words. */
  voice: VoiceUse | null;
  /** Voices that stand by for it, the preferred first: asked where it fails or is late. Absent: none. */
  standbyVoices?: readonly VoiceUse[];
  /** By their place here an agent asks them. Absent: none. */
  models?: readonly EngineUse[];
  /** What tells the caller's voice from other sounds. `neural`: the gate alone where it cannot be had. */
  voiceActivity: 'gate' | 'neural';
}

/** How one call uses an engine. */
export interface CallUse {
  callUuid: string;
  /** Null: the engine needs none. It was granted to the call: where it was not, the engine is never opened. */
  connection: string | null;
  settings: Readonly<Record<string, unknown>>;
}

/**
 * Worker threads of the media process in which engines work: local ones, and those that speak with providers, where
 * alone credentials are. Each kind has as many as its setting says, none with 0.
 */
export type EngineThreads = 'stt' | 'tts' | 'provider';

/** From one pipeline thread to the threads that there are. */
export type EnginePorts<Port = unknown> = Partial<Record<EngineThreads, Port>>;

/** The rates at which a leg may be listened to. */
export type ListenRateHz = 8000 | 16000;

export interface EngineKind {
  /** By which agents name it. */
  readonly name: string;
  /** Null: it needs none. */
  readonly threads: EngineThreads | null;
  /** What it needs from npm, each as `npm install` takes it. They need not be there before it is loaded. */
  readonly packages: readonly string[];
}

export interface EarKind<Port = unknown> extends EngineKind {
  readonly traits: Omit<EarTraits, 'rateHz' | 'codec'> & {
    /** It is opened at one of them: the leg's own if that is among them, else the sound is resampled. */
    readonly ratesHz: readonly number[];
    /** What it can be given: the leg's own if that is among them. */
    readonly codecs: readonly EarCodec[];
  };
  /**
   * `portNow` leads to its threads, and to their successors when they died; it throws where there are none. Once a
   * pipeline thread.
   */
  load(): Promise<(portNow: () => Port) => OpenEar>;
}

/** Makes the ear of one call, at one of its kind's rates. */
export interface OpenEar {
  (rateHz: number, use: CallUse, codec: EarCodec): EarFactory;
  /** The phone rings: what it takes to hear that call is made ready. Absent: nothing takes time. */
  prepare?(rateHz: number, use: CallUse, codec: EarCodec): void;
}

/** Of an engine without connections: the same for all calls. */
export type OpenVoice = (use: CallUse) => TextToSpeech;

export type OpenModel = (use: CallUse) => LanguageModel;

export interface VoiceKind<Port = unknown> extends EngineKind {
  readonly traits: {
    readonly rateHz: number;
    /** What it gives: samples of `rateHz`, and a telephone's leg its own form. */
    readonly codecs: readonly EarCodec[];
    /** By `SpeechChunk.words`. False: the words of a chunk share its sound by their syllables. */
    readonly tellsWordTimes: boolean;
    /** Their names; empty: the provider knows them. */
    readonly voices: readonly string[];
  };
  load(): Promise<(portNow: () => Port) => OpenVoice>;
}

export interface ModelKind<Port = unknown> extends EngineKind {
  load(): Promise<(portNow: () => Port) => OpenModel>;
}
