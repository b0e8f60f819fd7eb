/**
 * ElevenLabs' `multi-stream-input`, for `context-voice.ts`: a context is opened, given the whole text, flushed and
 * closed for more; its end is its `isFinal`. Nobody can take it back: it goes on until then.
 */
import type { ContextSaid, ContextWire } from '../provider/context-socket.ts';
import type { ContextVoice } from '../provider/context-voice.ts';
import { errorOfMessage } from './api-error.ts';
import { CharWords } from './char-words.ts';
import { DEFAULT_MODEL, type ElevenLabsSettings, PCM_RATE_HZ, speakUrl, voiceSettings } from './speak-url.ts';

/** Of five: one that nobody wants any more takes its place for a while. */
export const MOST_CONTEXTS = 3;

export const ELEVENLABS_VOICE: ContextVoice = {
  wire({ grant, settings }, { voice, takesMulaw }): ContextWire {
    const wanted = settings as ElevenLabsSettings;
    const first = voiceSettings(wanted);
    return {
      provider: 'ElevenLabs',
      url: speakUrl(grant, wanted, voice, takesMulaw),
      headers: { 'xi-api-key': grant.credentials['apiKey'] ?? '' },
      mostContexts: MOST_CONTEXTS,
      speak: (id, text) => [
        { text: ' ', context_id: id, ...(first === null ? {} : { voice_settings: first }) },
        { text: `${text.trimEnd()} `, context_id: id, flush: true },
        { context_id: id, close_context: true },
      ],
      cancel: () => null,
      read,
      keepAlive: { text: '' },
      goodbye: { close_socket: true },
    };
  },
  pcmRateHz: PCM_RATE_HZ,
  modelOf: ({ settings }) => (settings as ElevenLabsSettings).model ?? DEFAULT_MODEL,
  words: (text, charStart) => new CharWords(text, charStart),
};

function read(message: Record<string, unknown>): ContextSaid | null {
  if (typeof message['error'] === 'string') return { id: null, error: errorOfMessage(message) };
  const id = message['contextId'] ?? message['context_id'];
  if (typeof id !== 'string') return null;
  const { audio } = message;
  const hasSound = typeof audio === 'string' && audio !== '';
  return {
    id,
    sound: hasSound ? Buffer.from(audio, 'base64') : null,
    timing: hasSound ? (message['alignment'] ?? null) : null,
    isFinal: message['isFinal'] === true || message['is_final'] === true,
  };
}
