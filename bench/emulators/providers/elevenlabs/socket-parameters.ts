/** Query of the emulated WebSockets of ElevenLabs, checked. Pure. */
import type { Answer, ProviderRequest } from '../provider.ts';
import type { SoundFormat } from '../voice/sound-format.ts';
import { errorAnswer } from './api-error.ts';
import { DEFAULT_FORMAT, formatNames, soundFormatOf } from './output-format.ts';
import { DEFAULT_MODEL, hasModel, hasSockets } from './voices.ts';

export interface SocketParameters {
  voiceId: string;
  isMulti: boolean;
  format: SoundFormat;
  inactivityMs: number;
  isAlignmentSynced: boolean;
  isAuto: boolean;
}

const PATH = /^\/v1\/text-to-speech\/([^/]+)\/(stream-input|multi-stream-input)$/;
const DEFAULT_INACTIVITY_SECONDS = 20;
const LONGEST_INACTIVITY_SECONDS = 180;

/** Null: there is no such socket. A voice that does not exist is told on the open socket. */
export function readSocketParameters({ path, query }: ProviderRequest): SocketParameters | { refuse: Answer } | null {
  const [, voiceId, kind] = PATH.exec(path) ?? [];
  if (voiceId === undefined) return null;
  const model = query.get('model_id') ?? DEFAULT_MODEL;
  if (!hasModel(model)) {
    return invalid('model_not_found', `A model with model ID ${model} does not exist.`, 'model_id');
  }
  if (!hasSockets(model)) {
    const message =
      `Model '${model}' is not supported on the text-to-speech websocket endpoint. ` +
      'Use the text-to-dialogue websocket endpoint instead.';
    return invalid('unsupported_model', message, 'model_id');
  }
  const named = query.get('output_format') ?? DEFAULT_FORMAT;
  const format = soundFormatOf(named);
  if (format === null) {
    const message = `The emulator does not speak '${named}'; it speaks ${formatNames().join(', ')}.`;
    return invalid('invalid_output_format', message, 'output_format');
  }
  const seconds = Number(query.get('inactivity_timeout') ?? DEFAULT_INACTIVITY_SECONDS);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > LONGEST_INACTIVITY_SECONDS) {
    const message = `inactivity_timeout must be a whole number of seconds from 1 to ${LONGEST_INACTIVITY_SECONDS}.`;
    return invalid('invalid_inactivity_timeout', message, 'inactivity_timeout');
  }
  return {
    voiceId,
    isMulti: kind === 'multi-stream-input',
    format,
    inactivityMs: seconds * 1000,
    isAlignmentSynced: query.get('sync_alignment') === 'true',
    isAuto: query.get('auto_mode') === 'true',
  };
}

function invalid(error: string, message: string, param: string): { refuse: Answer } {
  return { refuse: errorAnswer(400, 'validation_error', { error, message }, { param }) };
}
