/**
 * What clients send on the emulated sockets of ElevenLabs, read. As at the service, unknown fields are ignored. Pure.
 */
import { SCHEDULE_RANGE } from './text-buffer.ts';

export interface ClientMessage {
  /** Null: none was given. */
  contextId: string | null;
  text: string | null;
  flush: boolean;
  triggers: boolean;
  closeContext: boolean;
  closeSocket: boolean;
  /** As it was given, for comparison. */
  voiceSettings: Record<string, unknown> | null;
  schedule: number[] | null;
  key: string | null;
}

const SPEED_RANGE = [0.7, 1.2] as const;

/** Throws with a sentence that says what is wrong. */
export function readClientMessage(message: string | Buffer): ClientMessage {
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(message.toString()) as Record<string, unknown>;
  } catch {
    throw new Error('The message is not valid JSON.');
  }
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
    throw new Error('The message is no object.');
  const { text, flush, try_trigger_generation: triggers, voice_settings: settings } = fields;
  if (text !== undefined && text !== null && typeof text !== 'string') throw new Error("'text' must be a string.");
  const contextId = fields['context_id'] ?? fields['contextId'];
  if (contextId !== undefined && contextId !== null && typeof contextId !== 'string') {
    throw new Error("'context_id' must be a string.");
  }
  const key = fields['xi_api_key'] ?? fields['xi-api-key'] ?? fields['authorization'];
  return {
    contextId: contextId ?? null,
    text: text ?? null,
    flush: flush === true,
    triggers: triggers === true,
    closeContext: fields['close_context'] === true,
    closeSocket: fields['close_socket'] === true,
    voiceSettings: readSettings(settings),
    schedule: readSchedule(fields['generation_config'] ?? fields['generator_config']),
    key: typeof key === 'string' ? key.replace(/^Bearer /, '') : null,
  };
}

function readSettings(given: unknown): Record<string, unknown> | null {
  if (given === undefined || given === null) return null;
  if (typeof given !== 'object') throw new Error("'voice_settings' must be an object.");
  const { speed } = given as { speed?: unknown };
  const [slowest, fastest] = SPEED_RANGE;
  if (speed !== undefined && (typeof speed !== 'number' || speed < slowest || speed > fastest)) {
    throw new Error(`'voice_settings.speed' must be from ${slowest} to ${fastest}.`);
  }
  return given as Record<string, unknown>;
}

function readSchedule(config: unknown): number[] | null {
  const given = (config as { chunk_length_schedule?: unknown } | null | undefined)?.chunk_length_schedule;
  if (given === undefined || given === null) return null;
  const [least, most] = SCHEDULE_RANGE;
  const isRight = (one: unknown): boolean => typeof one === 'number' && one >= least && one <= most;
  if (Array.isArray(given) && given.length > 0 && given.every(isRight)) return given as number[];
  throw new Error(`'chunk_length_schedule' must be a list of numbers from ${least} to ${most}.`);
}

/** Without the key: for the journal. */
export function withoutKey(message: unknown): unknown {
  if (typeof message !== 'object' || message === null) return message;
  const named = ['xi_api_key', 'xi-api-key', 'authorization'];
  return Object.fromEntries(
    Object.entries(message).map(([name, value]) => [name, named.includes(name) ? '***' : value]),
  );
}
