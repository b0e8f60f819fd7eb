/**
 * Engines of providers over their emulators: TLS, real sound, the providers' own protocols. A new provider enters here
 * by a line in each port that it serves, and `conformance.test.ts` judges it.
 */
import { startAnthropicEmulator } from '../../../bench/emulators/providers/anthropic/anthropic-emulator.ts';
import { startAssemblyAiEmulator } from '../../../bench/emulators/providers/assemblyai/assemblyai-emulator.ts';
import { startCartesiaEmulator } from '../../../bench/emulators/providers/cartesia/cartesia-emulator.ts';
import {
  type DeepgramEmulator,
  startDeepgramEmulator,
} from '../../../bench/emulators/providers/deepgram/deepgram-emulator.ts';
import { startElevenLabsEmulator } from '../../../bench/emulators/providers/elevenlabs/elevenlabs-emulator.ts';
import { startGeminiEmulator } from '../../../bench/emulators/providers/gemini/gemini-emulator.ts';
import { startOpenAiEmulator } from '../../../bench/emulators/providers/openai/openai-emulator.ts';
import type { ProviderEndpoint } from '../../../bench/emulators/providers/provider-endpoint.ts';
import { startEmulatedVoice } from '../../../bench/emulators/providers/voice/emulated-voice.ts';
import { startWordRecogniser } from '../../../bench/emulators/providers/word-recogniser.ts';
import { PATIENCE_MS } from '../../../bench/harness/patience.ts';
import { type Clock, systemClock } from '../../../media/contract/clock.ts';
import { LEAST_WAIT_MS } from '../../../media/engines/deepgram/listen-ear.ts';
import { loadFliteVoice } from '../../../media/engines/local/flite-voice.ts';
import { ANSWER_WITHIN_MS as LONGEST_WAIT_MS } from '../../../media/engines/openai/transcription-ear.ts';
import { EARS, engineOf, VOICES } from '../../../media/engines/registry.ts';
import type { MessageChange, OpenEarOfTest } from '../../unit/media/engines/call-ear-conformance.ts';
import { grantOf, providerHarness } from '../../unit/media/engines/provider-harness.ts';
import { overTheLine } from '../../unit/media/engines/speech-fixtures.ts';
import type { OpenedVoice } from '../../unit/media/engines/text-to-speech-conformance.ts';
import { type EmulatedModel, emulatedModelCase } from './emulated-model-case.ts';

export const KEY = 'canary-of-a-provider';
export const VOCABULARY = ['yes', 'please', 'yes please', 'no', 'no thank you'];
/** As fast as it is spoken: the emulator's decoder is no faster than a real one. */
const STEP_MS = 20;
/** An ear gives up words that are later; the decoder of a busy machine may be. */
const PATIENT_MS = 15_000;
/** All waits of ears for words lie between these, and none of the others that a test comes to. */
const isForWords = (ms: number): boolean => ms >= LEAST_WAIT_MS && ms <= LONGEST_WAIT_MS;
const PATIENT: Clock = {
  ...systemClock,
  after: (ms, run) => systemClock.after(isForWords(ms) ? PATIENT_MS : ms, run),
};
const SLOWER = 20;
/** A voice gives up sound that is late by its clock: a busy machine makes 60 sentences, which come whole, for long. */
const SLOW: Clock = {
  ...systemClock,
  nowMs: () => systemClock.nowMs() / SLOWER,
  after: (ms, run) => systemClock.after(ms * SLOWER, run),
};
const QUICK = { firstAudioMs: 5, chunkEveryMs: 1 };

/** More than one test opens. */
const MANY = 100;

interface Emulated {
  endpoint: ProviderEndpoint;
  /** Of the connection. */
  provider: string;
  path: string;
}

/** Started once a file, before its tests. */
export interface Emulators {
  anthropic: ProviderEndpoint;
  assemblyai: ProviderEndpoint;
  cartesia: ProviderEndpoint;
  deepgram: DeepgramEmulator;
  elevenlabs: ProviderEndpoint;
  gemini: ProviderEndpoint;
  openai: ProviderEndpoint;
  close(): Promise<void>;
}

/** Filled by `startEmulators`: suites are described before any of their tests runs. */
const started: Partial<Emulators> = {};

export const EAR_ENGINES = ['deepgram', 'deepgram-flux', 'assemblyai', 'openai'];
export const VOICE_ENGINES: Readonly<Record<string, readonly string[]>> = {
  elevenlabs: ['21m00Tcm4TlvDq8ikWAM', 'emulated-robot'],
  cartesia: ['f786b574-daa5-4673-aa0c-cbe3e8534c02', 'emulated-robot'],
  deepgram: ['flux-emulated-robot-en', 'aura-emulated-robot-en'],
  openai: ['alloy', 'robot'],
};
const CHAT: EmulatedModel = { service: 'openai-chat', provider: 'openai_compatible', path: '/v1', headMessages: 1 };
const MESSAGES: EmulatedModel = { service: 'anthropic-messages', provider: 'anthropic', path: '', headMessages: 3 };
const GENERATE: EmulatedModel = { service: 'gemini-generate', provider: 'gemini', path: '', headMessages: 0 };

export const MODEL_ENGINES = {
  openai: () => emulatedModelCase(started.openai!, CHAT, KEY),
  anthropic: () => emulatedModelCase(started.anthropic!, MESSAGES, KEY),
  gemini: () => emulatedModelCase(started.gemini!, GENERATE, KEY),
};

export async function startEmulators(): Promise<Emulators> {
  const voice = await startEmulatedVoice();
  const latencies = { interimMs: 20, finalMs: 30, turnEventMs: 20 };
  const recogniser = await startWordRecogniser((error) => {
    throw error;
  });
  const hearing = { keys: [KEY], vocabulary: VOCABULARY, recogniser };
  const deepgram = await startDeepgramEmulator({ ...hearing, latencies, voice, speakLatencies: QUICK });
  const assemblyai = await startAssemblyAiEmulator({ ...hearing, latencies: { turnMs: 20 } });
  const elevenlabs = await startElevenLabsEmulator({ keys: [KEY], voice, latencies: { ...QUICK, closeAfterMs: 20 } });
  const transcriptionTiming = { deltaMs: 20, completedMs: 30 };
  const openai = await startOpenAiEmulator({ ...hearing, voice, scenario: { rules: [] }, transcriptionTiming });
  const anthropic = await startAnthropicEmulator({ keys: [KEY], scenario: { rules: [] } });
  const gemini = await startGeminiEmulator({ keys: [KEY], scenario: { rules: [] } });
  const cartesia = await startCartesiaEmulator({ keys: [KEY], voice, latencies: QUICK, mostContexts: 100 });
  const emulators: Emulators = {
    anthropic,
    assemblyai,
    cartesia,
    deepgram,
    elevenlabs,
    gemini,
    openai,
    async close() {
      for (const endpoint of [anthropic, assemblyai, cartesia, deepgram, elevenlabs, gemini, openai])
        await endpoint.close();
      await voice.close();
      await recogniser.close();
    },
  };
  return Object.assign(started, emulators);
}

function emulatedOf(engine: string): Emulated {
  if (engine === 'openai') return { endpoint: started.openai!, provider: 'openai_compatible', path: '/v1' };
  const provider = engine === 'deepgram-flux' ? 'deepgram' : (engine as Exclude<keyof Emulators, 'close'>);
  return { endpoint: started[provider]!, provider, path: '' };
}

export function endpointOf(engine: string): ProviderEndpoint {
  return emulatedOf(engine).endpoint;
}

/** `isNewer`: the one change that the emulators make themselves. */
function connect(engine: string, isNewer: boolean, clock: Clock) {
  const { endpoint, provider, path } = emulatedOf(engine);
  if (isNewer) endpoint.script({ kind: 'newer_protocol', times: MANY });
  const harness = providerHarness({ ca: endpoint.caPem, clock });
  const baseUrl = `${endpoint.origin}${path}`;
  harness.grant('call-1', grantOf({ provider, baseUrl, credentials: { apiKey: KEY } }));
  const port = harness.connect();
  return {
    port: () => port,
    close() {
      endpoint.calm();
      harness.close();
    },
  };
}

export function openEar(engine: string): OpenEarOfTest {
  return async (listener, change) => {
    const voice = await loadFliteVoice();
    const { port, close } = connect(engine, change !== undefined, PATIENT);
    const open = (await engineOf(EARS, 'recogniser', engine).load())(port);
    const ear = open(8000, { callUuid: 'call-1', connection: 'main', settings: {} }, 'mulaw')(listener);
    return {
      ear,
      speech: (text) => overTheLine(voice, text, { leadMs: 40 }),
      step: () => new Promise((resolve) => setTimeout(resolve, STEP_MS)),
      patienceSteps: PATIENCE_MS / STEP_MS,
      close() {
        ear.close();
        close();
      },
    };
  };
}

export async function openVoice(engine: string, change?: MessageChange): Promise<OpenedVoice> {
  const { port, close } = connect(engine, change !== undefined, SLOW);
  const kind = engineOf(VOICES, 'voice engine', engine);
  const settings = engine === 'openai' ? { model: 'tts-1' } : {};
  const open = (await kind.load())(port);
  const { tellsWordTimes, codecs } = kind.traits;
  return {
    voice: open({ callUuid: 'call-1', connection: 'main', settings }),
    tellsWordTimes,
    givesMulaw: codecs.includes('mulaw'),
    voicesOfProvider: VOICE_ENGINES[engine]!,
    close,
  };
}
