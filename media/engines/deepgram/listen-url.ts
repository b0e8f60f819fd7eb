/**
 * What an ear of Deepgram asks for in the query of its socket, made of the agent's settings; and which settings there
 * are. Read by the ears. Pure.
 */
import type { EarCodec, EarHints } from '../../contract/ear.ts';
import type { EngineSettings } from '../../contract/engine-list.ts';
import type { ConnectionGrant } from '../../contract/grant.ts';
import { keytermsOf } from '../provider/hearing/keyterms.ts';
import { baseLanguages, socketBase } from '../provider/socket-url.ts';

/** Of `listen` v1. */
export interface ListenSettings extends EngineSettings<'listen', 'deepgram'> {
  /** `nova-3` and others; default `nova-3`. */
  model?: string;
  /** `en`, `en-IN`, `multi`; default: the provider's. */
  language?: string;
  /** All that callers may speak: where there are several, nova-3 is asked for its `multi`. */
  languages?: readonly string[];
  keyterms?: readonly string[];
}

/** Of Flux. */
export interface FluxSettings extends EngineSettings<'listen', 'deepgram-flux'> {
  /** `flux-general-en` or `flux-general-multi`; default: by `languages`. */
  model?: string;
  /** Hints for the multilingual model. */
  languages?: readonly string[];
  keyterms?: readonly string[];
}

export interface Sound {
  codec: EarCodec;
  rateHz: number;
}

export const DEFAULT_LISTEN_MODEL = 'nova-3';
/** Several languages in one sentence. */
const MIXING_MODELS = new Set([DEFAULT_LISTEN_MODEL, 'nova-3-general']);
const FLUX_ENGLISH = 'flux-general-en';
const FLUX_MULTILINGUAL = 'flux-general-multi';
const DEFAULT_EAGER_THRESHOLD = 0.5;
/** Its own end of speech costs nothing: the call decides when a turn is over, and says so. */
const ENDPOINTING_MS = 25;
/** The provider takes 500 tokens of them. */
export const MOST_KEYTERMS = { terms: 100, chars: 80 };

export function listenUrl(grant: ConnectionGrant, settings: ListenSettings, hints: EarHints, sound: Sound): string {
  const model = settings.model ?? DEFAULT_LISTEN_MODEL;
  const query = soundQuery(grant, model, sound);
  query.set('channels', '1');
  query.set('interim_results', 'true');
  query.set('endpointing', String(ENDPOINTING_MS));
  query.set('punctuate', 'true');
  query.set('no_delay', 'true');
  const isMixed = isSeveral(settings.languages) && MIXING_MODELS.has(model);
  const language = isMixed ? 'multi' : settings.language;
  if (language !== undefined) query.set('language', language);
  if (settings.smartFormat === true) query.set('smart_format', 'true');
  if (settings.numerals === true) query.set('numerals', 'true');
  if (settings.profanityFilter === true) query.set('profanity_filter', 'true');
  // Older models have another parameter for them, of another kind.
  if (model.startsWith('nova-3'))
    for (const term of keytermsOf(settings, hints, MOST_KEYTERMS)) query.append('keyterm', term);
  return `${socketBase(grant)}/v1/listen?${query}`;
}

export function fluxUrl(grant: ConnectionGrant, settings: FluxSettings, hints: EarHints, sound: Sound): string {
  const model = fluxModelOf(settings);
  const query = soundQuery(grant, model, sound);
  const { endOfTurnThreshold, eagerEndOfTurnThreshold = DEFAULT_EAGER_THRESHOLD, endOfTurnTimeoutMs } = settings;
  if (endOfTurnThreshold !== undefined) query.set('eot_threshold', String(endOfTurnThreshold));
  if (eagerEndOfTurnThreshold !== null) query.set('eager_eot_threshold', String(eagerEndOfTurnThreshold));
  if (endOfTurnTimeoutMs !== undefined) query.set('eot_timeout_ms', String(endOfTurnTimeoutMs));
  // The others know one language, and refuse hints.
  if (model === FLUX_MULTILINGUAL)
    for (const language of baseLanguages(settings.languages)) query.append('language_hint', language);
  for (const term of keytermsOf(settings, hints, MOST_KEYTERMS)) query.append('keyterm', term);
  return `${socketBase(grant)}/v2/listen?${query}`;
}

/** English alone has a model of its own. */
export function fluxModelOf({ model, languages }: FluxSettings): string {
  return model ?? (baseLanguages(languages).every((language) => language === 'en') ? FLUX_ENGLISH : FLUX_MULTILINGUAL);
}

const isSeveral = (tags: readonly string[] | undefined): boolean => baseLanguages(tags).length > 1;

function soundQuery({ settings }: ConnectionGrant, model: string, { codec, rateHz }: Sound): URLSearchParams {
  const query = new URLSearchParams({ model, encoding: codec === 'mulaw' ? 'mulaw' : 'linear16' });
  query.set('sample_rate', String(rateHz));
  if (settings['mipOptOut'] === true) query.set('mip_opt_out', 'true');
  return query;
}
