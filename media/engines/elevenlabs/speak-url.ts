/** What a socket of ElevenLabs is opened with, made of the connection and the agent's settings. Pure. */
import type { EngineSettings } from '../../contract/engine-list.ts';
import type { ConnectionGrant } from '../../contract/grant.ts';
import { baseLanguage, socketBase } from '../provider/socket-url.ts';

/** Of the agent. */
export interface ElevenLabsSettings extends EngineSettings<'speak', 'elevenlabs'> {
  /** Default `eleven_flash_v2_5`. */
  model?: string;
  /** A tag such as `en-US`; told to models that take one, as ISO 639-1. */
  language?: string;
}

export const DEFAULT_MODEL = 'eleven_flash_v2_5';
export const PCM_RATE_HZ = 16_000;
/** The longest that the service takes; ours are kept and closed by us. */
const INACTIVITY_SECONDS = 180;
/** The others answer it with an error. */
const TAKES_LANGUAGE = /_v2_5$/;

export function speakUrl(
  grant: ConnectionGrant,
  settings: ElevenLabsSettings,
  voice: string,
  takesMulaw: boolean,
): string {
  const query = new URLSearchParams({
    model_id: settings.model ?? DEFAULT_MODEL,
    output_format: takesMulaw ? 'ulaw_8000' : `pcm_${PCM_RATE_HZ}`,
    inactivity_timeout: String(INACTIVITY_SECONDS),
    // Whole sentences are sent: nothing is to be waited for.
    auto_mode: 'true',
    sync_alignment: 'true',
  });
  const { model = DEFAULT_MODEL, language } = settings;
  if (language !== undefined && TAKES_LANGUAGE.test(model)) {
    query.set('language_code', baseLanguage(language));
  }
  if (grant.settings['enableLogging'] === false) query.set('enable_logging', 'false');
  return `${socketBase(grant)}/v1/text-to-speech/${encodeURIComponent(voice)}/multi-stream-input?${query}`;
}

/** Of a context's first message; null: the voice's own. */
export function voiceSettings({ stability, similarityBoost, style, speed }: ElevenLabsSettings): object | null {
  const given = Object.entries({ stability, similarity_boost: similarityBoost, style, speed }).filter(
    ([, value]) => value !== undefined,
  );
  return given.length === 0 ? null : Object.fromEntries(given);
}
