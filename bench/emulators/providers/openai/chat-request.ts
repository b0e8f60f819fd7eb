/**
 * What `POST /v1/chat/completions` refuses before the model thinks, in the service's words: parameters that are
 * unknown, of the wrong type, out of range or that exclude each other. Messages and tools have files of their own.
 * Pure.
 */
import type { AskedQuestion } from '../mind/question.ts';
import { RequestRefused, unknownParameter, wrongType } from './api-error.ts';
import { readMessages } from './messages.ts';
import { readToolChoice, readTools } from './offered-tools.ts';
import { readResponseFormat } from './response-format.ts';

export interface ChatRequest extends AskedQuestion {
  /** As sent, for usage. */
  rawMessages: unknown[];
  stream: boolean;
  /** A last chunk tells usage. */
  tellsUsage: boolean;
  /** Chunks are padded to hide their length. */
  isObfuscated: boolean;
  maxTokens: number;
  stop: string[];
}

type Fields = Record<string, unknown>;

/** Taken and of no effect here. */
const WITHOUT_EFFECT = [
  'audio',
  'frequency_penalty',
  'logit_bias',
  'logprobs',
  'metadata',
  'modalities',
  'prediction',
  'presence_penalty',
  'prompt_cache_key',
  'prompt_cache_retention',
  'reasoning_effort',
  'safety_identifier',
  'seed',
  'service_tier',
  'store',
  'temperature',
  'top_logprobs',
  'top_p',
  'user',
  'verbosity',
  'web_search_options',
];
const KNOWN = [
  ...WITHOUT_EFFECT,
  'max_completion_tokens',
  'max_tokens',
  'messages',
  'model',
  'n',
  'parallel_tool_calls',
  'response_format',
  'stop',
  'stream',
  'stream_options',
  'tool_choice',
  'tools',
];
const STREAM_OPTIONS = ['include_usage', 'include_obfuscation'];
const RANGES: Record<string, readonly [number, number]> = {
  temperature: [0, 2],
  top_p: [0, 1],
  presence_penalty: [-2, 2],
  frequency_penalty: [-2, 2],
};
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'];
const MOST_STOPS = 4;

/**
 * Throws `RequestRefused`. `refuses`: parameters that this server does not know though others do; `formats`: what it
 * knows of `response_format`.
 */
export function readChatRequest(body: Buffer, refuses: readonly string[], formats: readonly string[]): ChatRequest {
  const fields = parsedObject(body);
  for (const name of Object.keys(fields)) {
    if (!KNOWN.includes(name) || refuses.includes(name)) {
      throw new RequestRefused(`Unrecognized request argument supplied: ${name}`, null, null);
    }
  }
  const { model, stream, n } = fields;
  if (typeof model !== 'string' || model === '')
    throw new RequestRefused('you must provide a model parameter', null, null);
  checkNumbers(fields);
  if (n !== undefined && n !== 1)
    throw new RequestRefused("Invalid 'n': this server gives one answer.", 'n', 'invalid_value');
  if (stream !== undefined && typeof stream !== 'boolean') throw wrongType('stream', 'a boolean', stream);
  const isStream = stream === true;
  const options = readStreamOptions(fields['stream_options'], isStream);
  const tools = readTools(fields['tools']);
  const parallel = fields['parallel_tool_calls'];
  if (parallel !== undefined) {
    if (typeof parallel !== 'boolean') throw wrongType('parallel_tool_calls', 'a boolean', parallel);
    if (tools.length === 0) throw onlyWithTools('parallel_tool_calls');
  }
  const toolChoice = readToolChoice(fields['tool_choice'], tools);
  return {
    model,
    messages: readMessages(fields['messages']),
    rawMessages: fields['messages'] as unknown[],
    tools,
    toolChoice,
    parallelCalls: parallel !== false,
    responseFormat: readResponseFormat(fields['response_format'], formats, fields['messages']),
    stream: isStream,
    tellsUsage: options['include_usage'] === true,
    isObfuscated: options['include_obfuscation'] !== false,
    maxTokens: readMaxTokens(fields),
    stop: readStop(fields['stop']),
  };
}

function parsedObject(body: Buffer): Fields {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    const message =
      "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)";
    throw new RequestRefused(message, null, null);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new RequestRefused('Invalid body: must be an object.', null, null);
}

function onlyWithTools(name: string): RequestRefused {
  return new RequestRefused(`'${name}' is only allowed when 'tools' are specified.`, name, null);
}

function checkNumbers(fields: Fields): void {
  for (const [name, [least, most]] of Object.entries(RANGES)) {
    const value = fields[name] ?? null;
    if (value === null) continue;
    if (typeof value !== 'number') throw wrongType(name, 'a decimal', value);
    if (value > most) {
      throw new RequestRefused(
        `Invalid '${name}': decimal above maximum value. Expected a value <= ${most}, but got ${value} instead.`,
        name,
        'decimal_above_max_value',
      );
    }
    if (value < least) {
      throw new RequestRefused(
        `Invalid '${name}': decimal below minimum value. Expected a value >= ${least}, but got ${value} instead.`,
        name,
        'decimal_below_min_value',
      );
    }
  }
  const effort = fields['reasoning_effort'] ?? null;
  if (effort !== null && !EFFORTS.includes(effort as string)) {
    throw new RequestRefused(
      `Invalid value: '${String(effort)}'. Supported values are: ${EFFORTS.map((one) => `'${one}'`).join(', ')}.`,
      'reasoning_effort',
      'invalid_value',
    );
  }
}

function readStreamOptions(given: unknown, isStream: boolean): Fields {
  if (given === undefined || given === null) return {};
  if (!isStream) {
    throw new RequestRefused(
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      'stream_options',
      null,
    );
  }
  if (typeof given !== 'object' || Array.isArray(given)) throw wrongType('stream_options', 'an object', given);
  for (const [name, value] of Object.entries(given)) {
    const param = `stream_options.${name}`;
    if (!STREAM_OPTIONS.includes(name)) throw unknownParameter(param);
    if (typeof value !== 'boolean') throw wrongType(param, 'a boolean', value);
  }
  return given as Fields;
}

function readMaxTokens(fields: Fields): number {
  const given = ['max_tokens', 'max_completion_tokens'].filter((name) => (fields[name] ?? null) !== null);
  if (given.length === 2) {
    const message = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.";
    throw new RequestRefused(message, 'max_tokens', 'invalid_parameter_combination');
  }
  const name = given[0];
  if (name === undefined) return Number.POSITIVE_INFINITY;
  const value = fields[name];
  if (typeof value !== 'number' || !Number.isInteger(value)) throw wrongType(name, 'an integer', value);
  if (value >= 1) return value;
  throw new RequestRefused(
    `Invalid '${name}': integer below minimum value. Expected a value >= 1, but got ${value} instead.`,
    name,
    'integer_below_min_value',
  );
}

function readStop(given: unknown): string[] {
  if (given === undefined || given === null) return [];
  const list = Array.isArray(given) ? given : [given];
  if (!list.every((one): one is string => typeof one === 'string')) {
    throw wrongType('stop', 'one of an array of strings or a string', given);
  }
  if (list.length <= MOST_STOPS) return list;
  throw new RequestRefused(
    `Invalid 'stop': array too long. Expected an array with maximum length ${MOST_STOPS}, but got an array with length ${list.length} instead.`,
    'stop',
    'array_above_max_length',
  );
}
