/** What the emulated Cartesia takes over its socket, and refuses with the service's kind of error. Pure. */
import type { SoundFormat } from '../voice/sound-format.ts';

export interface Generation {
  contextId: string;
  text: string;
  /** Flite's. */
  voice: string;
  speed: number;
  format: SoundFormat;
  tellsWords: boolean;
  continues: boolean;
  flushes: boolean;
}

export interface Refusal {
  status: number;
  code: string;
  title: string;
  message: string;
  contextId: string | null;
}

export type ClientMessage = Generation | { cancels: string } | { refused: Refusal };

type Fields = Record<string, unknown>;

/** By the service's kind of id. */
export const VOICES: Readonly<Record<string, string>> = {
  'f786b574-daa5-4673-aa0c-cbe3e8534c02': 'slt',
  'a0e99841-438c-4a64-b679-ae501e7d6091': 'rms',
  'emulated-robot': 'kal16',
};
const MODELS = /^sonic-/;
const ENCODINGS: Readonly<Record<string, SoundFormat['codec']>> = {
  pcm_s16le: 'pcm_s16le',
  pcm_mulaw: 'mulaw',
  pcm_alaw: 'alaw',
};
const RATES_HZ = [8_000, 16_000, 22_050, 24_000, 44_100, 48_000];
const CONTEXT_ID = /^[\w-]+$/;

export function readClientMessage(message: string | Buffer): ClientMessage {
  const fields = parsed(message);
  if (fields === null) return refused(null, 'invalid_request', 'Invalid JSON', 'The message is no JSON object.');
  const { context_id: id, cancel, transcript, model_id: model, continue: continues, flush } = fields;
  if (typeof id !== 'string' || !CONTEXT_ID.test(id))
    return refused(null, 'context_id_invalid', 'Invalid context ID', 'context_id must be of letters, digits, _ and -.');
  if (cancel === true) return { cancels: id };
  if (typeof transcript !== 'string') return refused(id, 'transcript_missing', 'Invalid transcript', 'It is missing.');
  if (transcript.trim() === '' && continues !== true && flush !== true && !('voice' in fields))
    return refused(id, 'transcript_empty', 'Invalid transcript', 'Your initial transcript is empty.');
  if (typeof model !== 'string' || !MODELS.test(model))
    return refused(id, 'model_not_found', 'Model not found', `There is no model ${String(model)}.`, 404);
  const voice = voiceOf(fields['voice']);
  if (voice === null) return refused(id, 'voice_not_found', 'Voice not found', 'There is no such voice.', 404);
  const { container, encoding, sample_rate: rateHz } = (fields['output_format'] ?? {}) as Fields;
  const codec = ENCODINGS[String(encoding)];
  if (container !== 'raw' || codec === undefined || !RATES_HZ.includes(rateHz as number))
    return refused(id, 'output_format_invalid', 'Invalid output format', 'Use raw, an encoding and a sample rate.');
  const { speed = 1 } = (fields['generation_config'] ?? {}) as Fields;
  if (typeof speed !== 'number' || speed < 0.6 || speed > 1.5)
    return refused(id, 'speed_invalid', 'Invalid speed', 'speed must be between 0.6 and 1.5.');
  return {
    contextId: id,
    text: transcript,
    voice,
    speed,
    format: { codec, rateHz: rateHz as number },
    tellsWords: fields['add_timestamps'] === true,
    continues: continues === true,
    flushes: flush === true,
  };
}

function voiceOf(given: unknown): string | null {
  const id = typeof given === 'string' ? given : ((given ?? {}) as Fields)['id'];
  return typeof id === 'string' && Object.hasOwn(VOICES, id) ? VOICES[id]! : null;
}

function refused(
  contextId: string | null,
  code: string,
  title: string,
  message: string,
  status = 400,
): { refused: Refusal } {
  return { refused: { status, code, title, message, contextId } };
}

function parsed(message: string | Buffer): Fields | null {
  try {
    const value: unknown = JSON.parse(message.toString());
    return typeof value === 'object' && value !== null ? (value as Fields) : null;
  } catch {
    return null;
  }
}
