/**
 * Deepgram's voices over their WebSockets, for `context-voice.ts`: Aura (`/v1/speak`) and Flux (`/v2/speak`), by the
 * name of the voice. A socket says one text after another and names none: its sound comes bare, up to a message that
 * ends it. What nobody wants any more is called off, and what comes until that is confirmed is nobody's
 * (https://developers.deepgram.com/reference/text-to-speech/speak-streaming).
 */
import type { EngineSettings } from '../../contract/engine-list.ts';
import type { ContextSaid, ContextWire } from '../provider/context-socket.ts';
import type { ContextVoice } from '../provider/context-voice.ts';
import { socketBase } from '../provider/socket-url.ts';
import { errorOfFluxCode } from './flux-errors.ts';

/** Of the agent. */
export type DeepgramSpeechSettings = EngineSettings<'speak', 'deepgram'>;

const NAME = 'Deepgram';
const PCM_RATE_HZ = 16_000;
const FLUX = 'flux-';
/** Of Aura: more than so many ends of texts in a minute are not heard. Two are left for what is called off. */
const MOST_FLUSHES = 18;
/** A message of more characters is refused: a longer text comes in several, cut before a space where there is one. */
const PARTS = /.{1,2000}(?=\s|$)|.{1,2000}/gsu;

export const DEEPGRAM_VOICE: ContextVoice = {
  wire({ grant, settings }, { voice, takesMulaw }): ContextWire {
    const isFlux = voice.startsWith(FLUX);
    const { speed, expressivity } = settings as DeepgramSpeechSettings;
    const query = new URLSearchParams({
      model: voice,
      encoding: takesMulaw ? 'mulaw' : 'linear16',
      sample_rate: String(takesMulaw ? 8_000 : PCM_RATE_HZ),
    });
    if (speed !== undefined) query.set('speed', String(speed));
    if (isFlux && expressivity !== undefined) query.set('expressivity', String(expressivity));
    if (grant.settings['mipOptOut'] === true) query.set('mip_opt_out', 'true');
    return {
      provider: NAME,
      url: `${socketBase(grant)}/${isFlux ? 'v2' : 'v1'}/speak?${query}`,
      headers: { authorization: `Token ${grant.credentials['apiKey'] ?? ''}` },
      mostContexts: 1,
      isSerial: true,
      ...(isFlux ? {} : { mostTextsAMinute: MOST_FLUSHES }),
      speak: (_id, text) => [...partsOf(text).map((part) => ({ type: 'Speak', text: part })), { type: 'Flush' }],
      cancel: () => ({ type: isFlux ? 'Interrupt' : 'Clear' }),
      read: isFlux ? readFlux : readAura,
      keepAlive: null,
      goodbye: { type: 'Close' },
    };
  },
  pcmRateHz: PCM_RATE_HZ,
  modelOf: (_line, { voice }) => voice,
  words: null,
};

function partsOf(text: string): readonly string[] {
  return text.match(PARTS) ?? [];
}

function readAura({ type }: Record<string, unknown>): ContextSaid | null {
  if (type === 'Flushed') return { ends: 'text' };
  return type === 'Cleared' ? { ends: 'cancel' } : null;
}

function readFlux({ type, code, description }: Record<string, unknown>): ContextSaid | null {
  switch (type) {
    // An interruption that comes too late is not confirmed: then the turn has come to its end by itself.
    case 'SpeechMetadata':
      return { ends: 'either' };
    case 'SpeechInterrupted':
      return { ends: 'cancel' };
    case 'Error':
      return { id: null, error: errorOfFluxCode(code, description) };
    default:
      return null;
  }
}
