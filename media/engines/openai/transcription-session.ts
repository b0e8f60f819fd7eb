/**
 * What a transcription session of OpenAI's realtime API is asked for, made of the agent's settings, and its errors in
 * our classes (https://developers.openai.com/api/docs/guides/realtime-transcription). Pure.
 */
import type { EarHints } from '../../contract/ear.ts';
import type { EngineSettings } from '../../contract/engine-list.ts';
import { keytermsOf } from '../provider/hearing/keyterms.ts';
import type { ProviderEarWish } from '../provider/provider-ear.ts';
import { ProviderError } from '../provider/provider-error.ts';
import { baseLanguages, socketBase } from '../provider/socket-url.ts';

export interface TranscriptionSettings extends EngineSettings<'listen', 'openai'> {
  /** Default `gpt-live-transcribe`. */
  model?: string;
  /** All that callers may speak. */
  languages?: readonly string[];
  keyterms?: readonly string[];
}

/** Of the telephone's sound; any other is of 24 kHz (`audio/pcm` knows no other rate). */
export const PCM_RATE_HZ = 24_000;
const DEFAULT_MODEL = 'gpt-live-transcribe';
/** They know languages and words to look out for; the others one language. */
const KNOWS_WORDS = /^gpt-(live-)?transcribe/;
/** They tell words while somebody speaks; the others when they were asked. */
const TELLS_AT_ONCE = /^gpt-live-transcribe|^gpt-realtime-whisper/;
const MOST_KEYWORDS = { terms: 100, chars: 80 };
const MOST_SAID_CHARS = 300;

export function transcriptionModelOf({ model = DEFAULT_MODEL }: TranscriptionSettings): string {
  return model;
}

export function tellsAtOnce(settings: TranscriptionSettings): boolean {
  return TELLS_AT_ONCE.test(transcriptionModelOf(settings));
}

export function transcriptionUrl({ grant }: Pick<ProviderEarWish, 'grant'>): string {
  return `${socketBase(grant)}/realtime?intent=transcription`;
}

/** The call says where turns end. */
export function sessionUpdate(wish: Pick<ProviderEarWish, 'settings' | 'rateHz'>, hints: EarHints): string {
  const settings = wish.settings as TranscriptionSettings;
  const model = transcriptionModelOf(settings);
  const languages = baseLanguages(settings.languages);
  const keywords = keytermsOf(settings, hints, MOST_KEYWORDS);
  const words = KNOWS_WORDS.test(model)
    ? { ...(languages.length === 0 ? {} : { languages }), ...(keywords.length === 0 ? {} : { keywords }) }
    : languages.length === 1
      ? { language: languages[0] }
      : {};
  const format = wish.rateHz === PCM_RATE_HZ ? { type: 'audio/pcm', rate: PCM_RATE_HZ } : { type: 'audio/pcmu' };
  const { noiseReduction } = settings;
  const input = {
    format,
    transcription: { model, ...words },
    turn_detection: null,
    ...(noiseReduction === undefined ? {} : { noise_reduction: { type: noiseReduction } }),
  };
  return JSON.stringify({ type: 'session.update', session: { type: 'transcription', audio: { input } } });
}

/** Of the account: asked again it would be refused again. */
const LASTING = new Set(['insufficient_quota', 'invalid_api_key', 'account_deactivated', 'billing_hard_limit_reached']);
/** Of the session: it cannot be used any more. */
const ENDING = new Set(['session_expired', 'session_not_found']);

/** Null: the session goes on. `isTaken`: so that what was asked for is right. */
export function errorOfSession(error: unknown, isTaken: boolean): ProviderError | null {
  const { type, code, message } = (error ?? {}) as Record<string, unknown>;
  const name = typeof code === 'string' ? code : typeof type === 'string' ? type : 'an error';
  const words = typeof message === 'string' ? `: ${message.slice(0, MOST_SAID_CHARS)}` : '';
  const said = `OpenAI said ${name}${words}`;
  if (LASTING.has(name)) return new ProviderError('refused', said);
  if (name.includes('rate_limit')) return new ProviderError('throttled', said);
  if (ENDING.has(name) || type === 'server_error') return new ProviderError('failed', said);
  return isTaken ? null : new ProviderError('refused', said);
}
