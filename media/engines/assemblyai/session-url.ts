/**
 * What an ear of AssemblyAI asks for in the query of its socket, made of the agent's settings
 * (https://www.assemblyai.com/docs/streaming/api-spec/streaming-websocket). Pure.
 */
import type { EarHints } from '../../contract/ear.ts';
import type { EngineSettings } from '../../contract/engine-list.ts';
import { keytermsOf } from '../provider/hearing/keyterms.ts';
import type { ProviderEarWish } from '../provider/provider-ear.ts';
import { baseLanguages, socketBase } from '../provider/socket-url.ts';

export interface SessionSettings extends EngineSettings<'listen', 'assemblyai'> {
  /** Default `universal-3-5-pro`. */
  model?: string;
  /** All that callers may speak. */
  languages?: readonly string[];
  keyterms?: readonly string[];
}

const DEFAULT_MODEL = 'universal-3-5-pro';
/** They transcribe a turn anew at each pause, take hints of languages, and write marks; the others tell each word. */
const SEGMENT_MODELS = /^(universal-3|u3-)/;
/** More are an error, longer ones are left out. */
export const MOST_KEYTERMS = { terms: 100, chars: 50 };
const MOST_LANGUAGES = 10;

export function sessionModelOf({ model = DEFAULT_MODEL }: SessionSettings): string {
  return model;
}

export function sessionUrl(
  wish: Pick<ProviderEarWish, 'grant' | 'settings' | 'codec' | 'rateHz'>,
  hints: EarHints,
): string {
  const settings = wish.settings as SessionSettings;
  const model = sessionModelOf(settings);
  const query = new URLSearchParams({
    speech_model: model,
    encoding: wish.codec === 'mulaw' ? 'pcm_mulaw' : 'pcm_s16le',
    sample_rate: String(wish.rateHz),
    // A sign of life while nobody speaks.
    session_heartbeat: 'true',
  });
  if (SEGMENT_MODELS.test(model)) {
    // The first words as soon as there are any: they may be an interruption.
    query.set('interruption_delay', '0');
    const languages = baseLanguages(settings.languages);
    if (languages.length > 0) query.set('language_codes', JSON.stringify(languages.slice(0, MOST_LANGUAGES)));
    if (settings.mode !== undefined) query.set('mode', settings.mode);
  } else if (settings.endOfTurnThreshold !== undefined)
    query.set('end_of_turn_confidence_threshold', String(settings.endOfTurnThreshold));
  if (settings.minTurnSilenceMs !== undefined) query.set('min_turn_silence', String(settings.minTurnSilenceMs));
  if (settings.maxTurnSilenceMs !== undefined) query.set('max_turn_silence', String(settings.maxTurnSilenceMs));
  if (settings.profanityFilter === true) query.set('filter_profanity', 'true');
  const keyterms = keytermsOf(settings, hints, MOST_KEYTERMS);
  if (keyterms.length > 0) query.set('keyterms_prompt', JSON.stringify(keyterms));
  return `${socketBase(wish.grant)}/v3/ws?${query}`;
}
