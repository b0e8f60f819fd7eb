/**
 * Cartesia's WebSocket, for `context-voice.ts`: a text is one context, given whole; its sound and the times of its
 * words come side by side, and `done` is its end. One that nobody wants any more is cancelled, and its late sound is
 * nobody's.
 */
import type { EngineSettings } from '../../contract/engine-list.ts';
import type { ContextSaid, ContextWire } from '../provider/context-socket.ts';
import type { ContextVoice } from '../provider/context-voice.ts';
import { ProviderError } from '../provider/provider-error.ts';
import { baseLanguage, socketBase } from '../provider/socket-url.ts';
import { SpokenTimes } from './spoken-times.ts';

/** Of the agent. */
export interface CartesiaSettings extends EngineSettings<'speak', 'cartesia'> {
  /** Default `sonic-3`. */
  model?: string;
  /** A tag such as `en-US`; told as ISO 639-1. */
  language?: string;
}

const NAME = 'Cartesia';
const VERSION = '2026-08-14';
const DEFAULT_MODEL = 'sonic-3';
const PCM_RATE_HZ = 16_000;
/** Of a socket; how many speak at once is the account's matter, and told as a limit. */
const MOST_CONTEXTS = 10;
const MOST_SAID_CHARS = 300;

export const CARTESIA_VOICE: ContextVoice = {
  wire({ grant, settings }, { voice, takesMulaw }): ContextWire {
    const { model = DEFAULT_MODEL, language, speed, volume, emotion } = settings as CartesiaSettings;
    const wanted = Object.entries({ speed, volume, emotion }).filter(([, value]) => value !== undefined);
    const request = {
      model_id: model,
      voice: { mode: 'id', id: voice },
      ...(language === undefined ? {} : { language: baseLanguage(language) }),
      output_format: {
        container: 'raw',
        encoding: takesMulaw ? 'pcm_mulaw' : 'pcm_s16le',
        sample_rate: takesMulaw ? 8_000 : PCM_RATE_HZ,
      },
      add_timestamps: true,
      // The text comes whole: nothing is to be waited for.
      max_buffer_delay_ms: 0,
      continue: false,
      ...(wanted.length === 0 ? {} : { generation_config: Object.fromEntries(wanted) }),
    };
    return {
      provider: NAME,
      url: `${socketBase(grant)}/tts/websocket`,
      headers: { 'x-api-key': grant.credentials['apiKey'] ?? '', 'cartesia-version': VERSION },
      mostContexts: MOST_CONTEXTS,
      speak: (id, text) => [{ ...request, context_id: id, transcript: text }],
      cancel: (id) => ({ context_id: id, cancel: true }),
      read,
      keepAlive: null,
      goodbye: null,
    };
  },
  pcmRateHz: PCM_RATE_HZ,
  modelOf: ({ settings }) => (settings as CartesiaSettings).model ?? DEFAULT_MODEL,
  words: (text, charStart) => new SpokenTimes(text, charStart),
};

function read(message: Record<string, unknown>): ContextSaid | null {
  const { type, context_id: id, data, done } = message;
  // Of older versions an error has neither type nor code.
  if (type === 'error' || typeof message['error'] === 'string')
    return { id: typeof id === 'string' ? id : null, error: errorOf(message) };
  if (typeof id !== 'string') return null;
  const isFinal = type === 'done' || done === true;
  switch (type) {
    case 'chunk':
      return { id, sound: typeof data === 'string' ? Buffer.from(data, 'base64') : null, timing: null, isFinal };
    case 'timestamps':
      return { id, sound: null, timing: message['word_timestamps'] ?? null, isFinal };
    default:
      return { id, sound: null, timing: null, isFinal };
  }
}

function errorOf(message: Record<string, unknown>): ProviderError {
  const status = message['status_code'];
  const words = [message['title'], message['message'], message['error']].filter((one) => typeof one === 'string');
  const said = `${NAME} said ${String(message['error_code'] ?? status ?? 'an error')}: ${words.join(': ')}`;
  const fault =
    status === 429 ? 'throttled' : typeof status === 'number' && status >= 400 && status < 500 ? 'refused' : 'failed';
  return new ProviderError(fault, said.slice(0, MOST_SAID_CHARS));
}
