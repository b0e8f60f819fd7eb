/**
 * What a client may say on `/ws/live` (contract §9), read from text and checked by hand: positions come four times a
 * second from each client. Pure; never throws. `docs/live-protocol.md` describes each message for those who write
 * clients.
 */
import type { LegFormat } from '../../../contract/audio-format.ts';
import { DEEPEST_JSON, isTooDeep } from '../../../contract/json-depth.ts';
import { placeholderText } from '../../../contract/placeholders.ts';

export interface AudioWish {
  /** In order of preference; what is no format that we know is left out. Null: not said. */
  input: LegFormat[] | null;
  output: LegFormat[] | null;
}

export interface Visitor {
  name: string;
  metadata: Record<string, unknown>;
}

export type ClientMessage =
  | { type: 'session.start'; audio: AudioWish; bufferMs: number | null; visitor: Visitor | null }
  | { type: 'session.resume'; lastOrdinal: number; audio: AudioWish; bufferMs: number | null }
  | { type: 'audio.mute'; muted: boolean }
  | { type: 'user.text'; text: string; interrupt: boolean }
  | { type: 'context.update' }
  /** `error`: it failed, for this reason; null: `result` is its result. */
  | { type: 'tool.result'; toolCallId: string; result: unknown; error: string | null }
  | { type: 'dtmf'; digits: string }
  | { type: 'playback.position'; utterance: number; playedMs: number }
  | { type: 'interrupt' }
  | { type: 'ping'; id: number | string | null }
  | { type: 'pong'; id: number }
  | { type: 'session.end' };

/** `malformed`: no JSON object with a `type`. `wrong`: a known type with a field that is not right. */
export type ReadMessage =
  | { kind: 'message'; message: ClientMessage }
  | { kind: 'unknown' }
  | { kind: 'malformed' }
  | { kind: 'wrong'; why: string };

const MOST_TEXT_CHARACTERS = 2_000;
const MOST_NAME_CHARACTERS = 120;
const MOST_ERROR_CHARACTERS = 200;
const METADATA = { keys: 50, valueCharacters: 2_000, totalBytes: 8 * 1024 };
const METADATA_KEY = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;
/** Not a visitor's to say: secrets of tools, and what the service itself knows. */
const RESERVED_KEY = /^(?:secret|sys)\./;
const DIGITS = /^[0-9*#A-Da-d]{1,32}$/;
const UTTERANCE = /^u(\d{1,9})$/;
const MOST_WISHES = 16;

type Fields = Readonly<Record<string, unknown>>;

export function readClientMessage(text: string): ReadMessage {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return { kind: 'malformed' };
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return { kind: 'malformed' };
  const fields = body as Fields;
  const { type } = fields as { type?: unknown };
  if (typeof type !== 'string') return { kind: 'malformed' };
  if (!Object.hasOwn(READERS, type)) return { kind: 'unknown' };
  // `JSON.stringify` and `postMessage` throw at some thousand levels.
  if (isTooDeep(body)) return { kind: 'wrong', why: `${type}: nested more than ${DEEPEST_JSON} deep` };
  const read = READERS[type as keyof typeof READERS](fields);
  return typeof read === 'string' ? { kind: 'wrong', why: `${type}: ${read}` } : { kind: 'message', message: read };
}

/** Each gives the message, or says which field is wrong. */
const READERS: {
  [Type in ClientMessage['type']]: (fields: Fields) => Extract<ClientMessage, { type: Type }> | string;
} = {
  'session.start'(fields) {
    const { protocol } = fields as { protocol?: unknown };
    if (protocol !== undefined && protocol !== '1') return '`protocol` must be "1"';
    const visitor = visitorOf(fields);
    if (typeof visitor === 'string') return visitor;
    const common = commonOf(fields);
    return typeof common === 'string' ? common : { type: 'session.start', ...common, visitor };
  },
  'session.resume'(fields) {
    const { lastOrdinal = 0 } = fields as { lastOrdinal?: unknown };
    if (!isCount(lastOrdinal)) return '`lastOrdinal` must be a whole number from 0 on';
    const common = commonOf(fields);
    return typeof common === 'string' ? common : { type: 'session.resume', ...common, lastOrdinal };
  },
  'audio.mute'(fields) {
    const { muted } = fields as { muted?: unknown };
    return typeof muted === 'boolean' ? { type: 'audio.mute', muted } : '`muted` must be true or false';
  },
  'user.text'(fields) {
    const { text, interrupt = true } = fields as { text?: unknown; interrupt?: unknown };
    if (
      typeof text !== 'string' ||
      text.trim() === '' ||
      [...text].length > MOST_TEXT_CHARACTERS ||
      !isStorable(text)
    ) {
      return `\`text\` must be 1 to ${MOST_TEXT_CHARACTERS} characters`;
    }
    if (typeof interrupt !== 'boolean') return '`interrupt` must be true or false';
    return { type: 'user.text', text: text.trim(), interrupt };
  },
  'context.update'(fields) {
    return typeof fields['text'] === 'string' ? { type: 'context.update' } : '`text` must be a string';
  },
  'tool.result'(fields) {
    const { toolCallId, result = null, error = null } = fields as Record<'toolCallId' | 'result' | 'error', unknown>;
    if (typeof toolCallId !== 'string') return '`toolCallId` must be a string';
    if (error !== null && typeof error !== 'string') return '`error` must be a string';
    return { type: 'tool.result', toolCallId, result, error: error?.slice(0, MOST_ERROR_CHARACTERS) ?? null };
  },
  dtmf(fields) {
    const { digits } = fields as { digits?: unknown };
    if (typeof digits !== 'string' || !DIGITS.test(digits)) return '`digits` must be 1 to 32 of 0-9 * # A-D';
    return { type: 'dtmf', digits: digits.toUpperCase() };
  },
  'playback.position'(fields) {
    const { utteranceId, playedMs } = fields as { utteranceId?: unknown; playedMs?: unknown };
    const match = typeof utteranceId === 'string' ? UTTERANCE.exec(utteranceId) : null;
    if (match === null) return '`utteranceId` must be one that was told';
    if (typeof playedMs !== 'number' || !(playedMs >= 0)) return '`playedMs` must be a number from 0 on';
    return { type: 'playback.position', utterance: Number(match[1]), playedMs };
  },
  interrupt: () => ({ type: 'interrupt' }),
  ping(fields) {
    const { id = null } = fields as { id?: unknown };
    if (id === null || typeof id === 'number' || (typeof id === 'string' && id.length <= 64))
      return { type: 'ping', id };
    return '`id` must be a number or a short string';
  },
  pong(fields) {
    const { id } = fields as { id?: unknown };
    return typeof id === 'number' ? { type: 'pong', id } : '`id` must be that of the ping';
  },
  'session.end': () => ({ type: 'session.end' }),
};

function commonOf(fields: Fields): { audio: AudioWish; bufferMs: number | null } | string {
  const { bufferMs = null, audio = {} } = fields as { bufferMs?: unknown; audio?: unknown };
  if (bufferMs !== null && (typeof bufferMs !== 'number' || !(bufferMs >= 0)))
    return '`bufferMs` must be a number from 0 on';
  if (typeof audio !== 'object' || audio === null) return '`audio` must be an object';
  const { input, output } = audio as { input?: unknown; output?: unknown };
  return { bufferMs, audio: { input: wishesOf(input), output: wishesOf(output) } };
}

function wishesOf(value: unknown): LegFormat[] | null {
  if (value === undefined || value === null) return null;
  const wishes: LegFormat[] = [];
  for (const one of [value].flat().slice(0, MOST_WISHES)) {
    if (typeof one !== 'object' || one === null) continue;
    const { codec, sampleRate } = one as { codec?: unknown; sampleRate?: unknown };
    const format = FORMATS.find(
      (known) => known.codec === codec && (sampleRate === undefined || known.rateHz === sampleRate),
    );
    if (format !== undefined) wishes.push(format);
  }
  return wishes;
}

/** What is offered, each codec's preset first. */
const FORMATS: readonly LegFormat[] = [
  { codec: 'pcm_s16le', rateHz: 16000 },
  { codec: 'pcm_s16le', rateHz: 24000 },
  { codec: 'pcm_s16le', rateHz: 48000 },
  { codec: 'opus', rateHz: 48000 },
  { codec: 'mulaw', rateHz: 8000 },
];

function visitorOf(fields: Fields): Visitor | null | string {
  const { name = '', metadata = {} } = fields as { name?: unknown; metadata?: unknown };
  if (typeof name !== 'string' || [...name].length > MOST_NAME_CHARACTERS || !isStorable(name)) {
    return `\`name\` must be a string of at most ${MOST_NAME_CHARACTERS} characters`;
  }
  if (!isMetadata(metadata)) {
    return '`metadata` must be an object of at most 50 keys (letters, digits, _ . -), values of 2,000 characters, 8 KB in all, no `secret.` and no `sys.`';
  }
  return name.trim() === '' && Object.keys(metadata).length === 0 ? null : { name: name.trim(), metadata };
}

function isMetadata(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const entries = Object.entries(value);
  if (entries.length > METADATA.keys) return false;
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) > METADATA.totalBytes || !isStorable(text)) return false;
  return entries.every(
    ([key, inner]) =>
      METADATA_KEY.test(key) &&
      !RESERVED_KEY.test(key) &&
      [...placeholderText(inner)].length <= METADATA.valueCharacters,
  );
}

/** PostgreSQL stores neither NUL nor half of a surrogate pair; as JSON they are written out. */
function isStorable(text: string): boolean {
  return !text.includes('\u0000') && !/\\u(?:0000|[dD][89a-fA-F])/.test(text) && !/\p{Surrogate}/u.test(text);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}
