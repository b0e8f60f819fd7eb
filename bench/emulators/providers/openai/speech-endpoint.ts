/**
 * `POST /v1/audio/speech` of the emulated service: the text spoken by `../voice`, streamed as raw samples, as a WAV
 * file or as events. There is no encoder for the compressed formats.
 */
import { WAV_HEADER_BYTES, writeWavHeader } from '../../../../media/audio/wav.ts';
import { sentencePieces } from '../../../../media/engines/local/sentence-pieces.ts';
import { tokensOf } from '../mind/tokens.ts';
import type { HttpExchange } from '../provider.ts';
import type { EmulatedVoice } from '../voice/emulated-voice.ts';
import { bytesPerMs, type SoundFormat } from '../voice/sound-format.ts';
import { RequestRefused, unknownParameter, wrongType } from './api-error.ts';

export interface SpeechTiming {
  /** From the request's arrival to the first sound. */
  firstAudioMs: number;
  /** Of sound in one piece of the body. */
  chunkMs: number;
  chunkEveryMs: number;
}

export const SPEECH_MODELS = ['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts'];
/** These have neither instructions nor events. */
const OLDER_MODELS = ['tts-1', 'tts-1-hd'];
const VOICES: Record<string, string> = {
  alloy: 'slt',
  ash: 'rms',
  ballad: 'awb',
  cedar: 'rms',
  coral: 'slt',
  echo: 'rms',
  fable: 'awb',
  marin: 'slt',
  nova: 'slt',
  onyx: 'rms',
  sage: 'slt',
  shimmer: 'slt',
  verse: 'awb',
  robot: 'kal16',
};
const FORMATS = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'];
const KNOWN = ['model', 'input', 'voice', 'instructions', 'response_format', 'speed', 'stream_format'];
const LONGEST_INPUT = 4096;
/** What `pcm` and `wav` are of. */
const SOUND: SoundFormat = { codec: 'pcm_s16le', rateHz: 24_000 };
/** Of a stream whose length nobody knows yet. */
const UNKNOWN_BYTES = 0xffff_ffff - (WAV_HEADER_BYTES - 8);

interface SpeechFields {
  model: string;
  input: string;
  voice: string;
  format: 'wav' | 'pcm';
  speed: number;
  isEvents: boolean;
}

/** Throws `RequestRefused`. */
export async function answerSpeech(exchange: HttpExchange, voice: EmulatedVoice, timing: SpeechTiming): Promise<void> {
  const arrivedAtMs = exchange.timetable.nowMs();
  const fields = readFields(await exchange.body());
  const { input, format, speed, isEvents } = fields;
  const speeches = sentencePieces(input).map(({ text }) =>
    voice.speak({ text, voice: VOICES[fields.voice]!, speed, format: SOUND }),
  );
  for (const speech of speeches) speech.catch(() => {});
  exchange.head(200, { 'content-type': isEvents ? 'text/event-stream' : format === 'wav' ? 'audio/wav' : 'audio/pcm' });
  const step = Math.round(timing.chunkMs * bytesPerMs(SOUND)) & ~1;
  let dueAtMs = arrivedAtMs + timing.firstAudioMs;
  const send = (bytes: Buffer): void => {
    const audio = bytes.toString('base64');
    exchange.timetable.at(dueAtMs, () =>
      exchange.send(isEvents ? `data: ${JSON.stringify({ type: 'speech.audio.delta', audio })}\n\n` : bytes),
    );
  };
  if (format === 'wav') send(wavHeader());
  for (const speech of speeches) {
    const { bytes } = await speech;
    for (let at = 0; at < bytes.length; at += step) {
      send(bytes.subarray(at, at + step));
      dueAtMs += timing.chunkEveryMs;
    }
  }
  exchange.timetable.at(dueAtMs, () => {
    if (isEvents) {
      const tokens = tokensOf(input).length;
      const usage = { input_tokens: tokens, output_tokens: 0, total_tokens: tokens };
      exchange.send(`data: ${JSON.stringify({ type: 'speech.audio.done', usage })}\n\n`);
    }
    exchange.end();
  });
}

function wavHeader(): Buffer {
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  writeWavHeader(header, { codec: 'pcm_s16le', channels: 1, rateHz: SOUND.rateHz, dataBytes: UNKNOWN_BYTES });
  return header;
}

function readFields(body: Buffer): SpeechFields {
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(body.toString('utf8')) as Record<string, unknown>;
  } catch {
    throw new RequestRefused('We could not parse the JSON body of your request.', null, null);
  }
  for (const name of Object.keys(fields)) if (!KNOWN.includes(name)) throw unknownParameter(name);
  const { model, input, voice, response_format: format = 'mp3', speed = 1, stream_format: stream = 'audio' } = fields;
  for (const [name, value] of Object.entries({ model, input, voice })) {
    if (value === undefined) {
      throw new RequestRefused(`Missing required parameter: '${name}'.`, name, 'missing_required_parameter');
    }
  }
  if (typeof input !== 'string') throw wrongType('input', 'a string', input);
  if (input.length === 0 || input.length > LONGEST_INPUT) {
    const isLong = input.length > 0;
    throw new RequestRefused(
      isLong
        ? `Invalid 'input': string too long. Expected a string with maximum length ${LONGEST_INPUT}, but got a string with length ${input.length} instead.`
        : "Invalid 'input': empty string. Expected a string with minimum length 1, but got an empty string instead.",
      'input',
      isLong ? 'string_above_max_length' : 'empty_string',
    );
  }
  if (typeof model !== 'string' || !SPEECH_MODELS.includes(model)) {
    const message = `The model \`${String(model)}\` does not exist or you do not have access to it.`;
    throw new RequestRefused(message, null, 'model_not_found', 404);
  }
  requireOneOf('voice', voice, Object.keys(VOICES));
  requireOneOf('response_format', format, FORMATS);
  requireOneOf('stream_format', stream, ['audio', 'sse']);
  if (format !== 'wav' && format !== 'pcm') {
    throw new RequestRefused(
      `This server does not encode '${String(format)}'; ask for 'wav' or 'pcm'.`,
      'response_format',
      'unsupported_value',
    );
  }
  if (OLDER_MODELS.includes(model) && (fields['instructions'] !== undefined || stream === 'sse')) {
    const param = stream === 'sse' ? 'stream_format' : 'instructions';
    throw new RequestRefused(`'${param}' is not supported with model '${model}'.`, param, 'unsupported_parameter');
  }
  if (typeof speed !== 'number' || speed < 0.25 || speed > 4) {
    throw new RequestRefused("Invalid 'speed': expected a value from 0.25 to 4.", 'speed', 'invalid_value');
  }
  return { model, input, voice: voice as string, format, speed, isEvents: stream === 'sse' };
}

function requireOneOf(name: string, value: unknown, known: readonly string[]): void {
  if (known.includes(value as string)) return;
  const message = `Invalid value: '${String(value)}'. Supported values are: ${known.map((one) => `'${one}'`).join(', ')}.`;
  throw new RequestRefused(message, name, 'invalid_value');
}
