/** The services of provider threads: the one list of them. Nothing of one is loaded before its first line. */
import { contextVoiceService } from './context-voice.ts';
import { createEarService } from './ear-service.ts';
import { modelService } from './model-service.ts';
import type { ServiceKind } from './provider-service.ts';

export const SERVICES: readonly ServiceKind[] = [
  {
    name: 'openai-chat',
    isRequest: true,
    providers: ['openai_compatible'],
    load: async () => modelService((await import('../openai/chat-wire.ts')).CHAT_WIRE),
  },
  {
    name: 'anthropic-messages',
    isRequest: true,
    providers: ['anthropic'],
    load: async () => modelService((await import('../anthropic/messages-wire.ts')).MESSAGES_WIRE),
  },
  {
    name: 'gemini-generate',
    isRequest: true,
    providers: ['gemini'],
    load: async () => modelService((await import('../gemini/generate-wire.ts')).GENERATE_WIRE),
  },
  {
    name: 'deepgram-listen',
    isRequest: false,
    providers: ['deepgram'],
    load: async () => createEarService((await import('../deepgram/listen-ear.ts')).openListenEar),
  },
  {
    name: 'deepgram-flux',
    isRequest: false,
    providers: ['deepgram'],
    load: async () => createEarService((await import('../deepgram/flux-ear.ts')).openFluxEar),
  },
  {
    name: 'assemblyai-streaming',
    isRequest: false,
    providers: ['assemblyai'],
    load: async () => createEarService((await import('../assemblyai/assemblyai-ear.ts')).openAssemblyAiEar),
  },
  {
    name: 'openai-transcription',
    isRequest: false,
    providers: ['openai_compatible'],
    load: async () => createEarService((await import('../openai/transcription-ear.ts')).openTranscriptionEar),
  },
  {
    name: 'elevenlabs-speech',
    isRequest: true,
    providers: ['elevenlabs'],
    load: async () => contextVoiceService((await import('../elevenlabs/speech-wire.ts')).ELEVENLABS_VOICE),
  },
  {
    name: 'cartesia-speech',
    isRequest: true,
    providers: ['cartesia'],
    load: async () => contextVoiceService((await import('../cartesia/speech-wire.ts')).CARTESIA_VOICE),
  },
  {
    name: 'deepgram-speech',
    isRequest: true,
    providers: ['deepgram'],
    load: async () => contextVoiceService((await import('../deepgram/speak-wire.ts')).DEEPGRAM_VOICE),
  },
  {
    name: 'openai-speech',
    isRequest: true,
    providers: ['openai_compatible'],
    load: async () => (await import('../openai/speech-service.ts')).createSpeechService,
  },
];
