/**
 * What the emulated ElevenLabs answers over HTTP: who the key belongs to, models and voices, and speech in one request,
 * whole, streamed, and with the times of its characters.
 */
import { sentencePieces } from '../../../../media/engines/local/sentence-pieces.ts';
import type { HttpExchange } from '../provider.ts';
import type { Speech } from '../voice/emulated-voice.ts';
import { bytesPerMs, type SoundFormat } from '../voice/sound-format.ts';
import { givenText, normalizedText, type TimedText } from './alignment.ts';
import { errorAnswer, failureAnswer, fieldAnswer, requestId } from './api-error.ts';
import { DEFAULT_FORMAT, formatNames, soundFormatOf } from './output-format.ts';
import type { SocketOptions } from './socket-options.ts';
import { DEFAULT_MODEL, fliteVoiceOf, hasModel, modelList, voiceList } from './voices.ts';

const SPEECH_PATH = /^\/v1\/text-to-speech\/([^/]+?)(\/stream)?(\/with-timestamps)?$/;
const CONTENT_TYPES: Record<SoundFormat['codec'], string> = {
  pcm_s16le: 'audio/pcm',
  mulaw: 'audio/basic',
  alaw: 'audio/x-alaw',
};

export async function answerHttp(exchange: HttpExchange, options: SocketOptions): Promise<void> {
  const { method, path } = exchange;
  if (method === 'GET') {
    const body = listed(path);
    return exchange.answer(body === null ? failureAnswer(404) : { status: 200, body });
  }
  const match = SPEECH_PATH.exec(path);
  if (method !== 'POST' || match === null) return exchange.answer(failureAnswer(404));
  await answerSpeech(exchange, options, match[1]!, match[2] !== undefined, match[3] !== undefined);
}

function listed(path: string): object | null {
  switch (path) {
    case '/v1/models':
      return modelList();
    case '/v1/voices':
      return { voices: voiceList() };
    case '/v1/user/subscription':
      return SUBSCRIPTION;
    case '/v1/user':
      return USER;
    default:
      return null;
  }
}

async function answerSpeech(
  exchange: HttpExchange,
  options: SocketOptions,
  voiceId: string,
  isStream: boolean,
  isTimed: boolean,
): Promise<void> {
  const arrivedAtMs = exchange.timetable.nowMs();
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse((await exchange.body()).toString('utf8')) as Record<string, unknown>;
  } catch {
    return exchange.answer(fieldAnswer(['body', 0], 'JSON decode error', 'json_invalid', {}));
  }
  const { text, model_id: model = DEFAULT_MODEL, voice_settings: settings } = fields;
  if (text === undefined) return exchange.answer(fieldAnswer(['body', 'text'], 'Field required', 'missing', null));
  if (typeof text !== 'string') {
    return exchange.answer(fieldAnswer(['body', 'text'], 'Input should be a valid string', 'string_type', text));
  }
  const voiceName = fliteVoiceOf(voiceId);
  if (voiceName === null) {
    const message = `A voice with voice_id '${voiceId}' was not found.`;
    return exchange.answer(errorAnswer(404, 'not_found', { error: 'voice_not_found', message }));
  }
  if (typeof model !== 'string' || !hasModel(model)) {
    const message = `A model with model ID ${String(model)} does not exist.`;
    return exchange.answer(
      errorAnswer(400, 'validation_error', { error: 'model_not_found', message }, { param: 'model_id' }),
    );
  }
  const named = exchange.query.get('output_format') ?? DEFAULT_FORMAT;
  const format = soundFormatOf(named);
  if (format === null) {
    const message = `The emulator does not speak '${named}'; it speaks ${formatNames().join(', ')}.`;
    const error = { error: 'invalid_output_format', message };
    return exchange.answer(errorAnswer(400, 'validation_error', error, { param: 'output_format' }));
  }
  const speed = Number((settings as { speed?: number } | undefined)?.speed ?? 1);
  const { voice, latencies } = options;
  const speeches = sentencePieces(text).map((piece) => ({
    text: piece.text,
    speech: voice.speak({ text: piece.text, voice: voiceName, speed, format }),
  }));
  for (const { speech } of speeches) speech.catch(() => {});
  exchange.head(200, {
    'content-type': isTimed ? 'application/json' : CONTENT_TYPES[format.codec],
    'request-id': requestId(),
    'character-cost': String(text.length),
  });
  const whole: { bytes: Buffer[]; given: TimedText; normalized: TimedText } = {
    bytes: [],
    given: none(),
    normalized: none(),
  };
  let offsetMs = 0;
  let dueAtMs = arrivedAtMs + latencies.firstAudioMs;
  const perMs = bytesPerMs(format);
  for (const piece of speeches) {
    const speech = await piece.speech;
    const given = shifted(givenText(piece.text, speech), offsetMs);
    const normalized = shifted(normalizedText(speech), offsetMs);
    offsetMs += speech.bytes.length / perMs;
    if (!isStream) {
      whole.bytes.push(speech.bytes);
      append(whole.given, given);
      append(whole.normalized, normalized);
      continue;
    }
    const send = isTimed
      ? [`${JSON.stringify(timedBody(speech, given, normalized))}\n`]
      : cut(speech, Math.round(latencies.chunkMs * perMs) & ~1);
    for (const chunk of send) {
      exchange.timetable.at(dueAtMs, () => exchange.send(chunk));
      dueAtMs += latencies.chunkEveryMs;
    }
  }
  exchange.timetable.at(dueAtMs, () => {
    if (!isStream) {
      const bytes = Buffer.concat(whole.bytes);
      exchange.send(isTimed ? bodyOf(bytes, whole.given, whole.normalized) : bytes);
    }
    exchange.end();
  });
}

function cut({ bytes }: Speech, step: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / step) }, (_, i) => bytes.subarray(i * step, (i + 1) * step));
}

function timedBody({ bytes }: Speech, given: TimedText, normalized: TimedText): object {
  return bodyOf(bytes, given, normalized);
}

/** Times in seconds from the beginning of the whole. */
function bodyOf(bytes: Buffer, given: TimedText, normalized: TimedText): object {
  const named = ({ chars, startMs, endMs }: TimedText): object => ({
    characters: chars,
    character_start_times_seconds: startMs.map((ms) => Math.round(ms) / 1000),
    character_end_times_seconds: endMs.map((ms) => Math.round(ms) / 1000),
  });
  return { audio_base64: bytes.toString('base64'), alignment: named(given), normalized_alignment: named(normalized) };
}

function none(): TimedText {
  return { chars: [], startMs: [], endMs: [] };
}

function shifted({ chars, startMs, endMs }: TimedText, byMs: number): TimedText {
  return { chars, startMs: startMs.map((ms) => ms + byMs), endMs: endMs.map((ms) => ms + byMs) };
}

function append(to: TimedText, more: TimedText): void {
  to.chars.push(...more.chars);
  to.startMs.push(...more.startMs);
  to.endMs.push(...more.endMs);
}

const SUBSCRIPTION = {
  tier: 'emulated',
  character_count: 0,
  character_limit: 1_000_000,
  max_credit_limit_extension: 0,
  can_extend_character_limit: false,
  allowed_to_extend_character_limit: false,
  next_character_count_reset_unix: 0,
  voice_slots_used: 0,
  professional_voice_slots_used: 0,
  professional_voice_slots_used_in_workspace: 0,
  voice_limit: 10,
  voice_add_edit_counter: 0,
  professional_voice_limit: 1,
  can_extend_voice_limit: false,
  can_use_instant_voice_cloning: true,
  can_use_professional_voice_cloning: false,
  current_overage: { amount: '0', currency: 'usd' },
  status: 'active',
};
const USER = {
  user_id: 'emulated',
  workspace_id: 'emulated',
  subscription: SUBSCRIPTION,
  is_new_user: false,
  can_use_delayed_payment_methods: false,
  is_onboarding_completed: true,
  is_onboarding_checklist_completed: true,
  created_at: 0,
  seat_type: 'workspace_admin',
};
