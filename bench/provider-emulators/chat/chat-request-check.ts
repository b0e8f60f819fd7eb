/** What a chat endpoint refuses before it thinks, with the service's own words, types and codes. Pure. */
import { strictFault } from './strict-schema.ts';

export interface ChatRequest {
  model: string;
  messages: { role: string; content: unknown }[];
  stream: boolean;
  responseFormat: { type: 'text' | 'json_object' | 'json_schema'; schema: unknown };
}

export interface ChatError {
  status: number;
  message: string;
  type: string;
  param: string | null;
  code: string | null;
}

export type ReadRequest = { ok: true; request: ChatRequest } | { ok: false; error: ChatError };

const ROLES = ['developer', 'system', 'user', 'assistant', 'tool', 'function'];
const KNOWN = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'response_format',
  'temperature',
  'top_p',
  'n',
  'stop',
  'max_tokens',
  'max_completion_tokens',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'user',
  'seed',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning_effort',
  'metadata',
  'store',
  'service_tier',
  'logprobs',
  'top_logprobs',
];

/** `formats`: the response formats that this server knows; older ones know fewer. */
export function readChatRequest(text: string, formats: readonly string[]): ReadRequest {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return refuse('We could not parse the JSON body of your request.', null, null);
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return refuse('Invalid body: must be an object.', null, null);
  const { model, messages, stream, response_format: format } = body as Record<string, unknown>;
  const unknown = Object.keys(body).find((name) => !KNOWN.includes(name));
  if (unknown !== undefined) return refuse(`Unrecognized request argument supplied: ${unknown}`, unknown, null);
  if (typeof model !== 'string' || model === '') return refuse('you must provide a model parameter', null, null);
  if (!Array.isArray(messages) || messages.length === 0) {
    return refuse(
      "Invalid 'messages': empty array. Expected an array with minimum length 1.",
      'messages',
      'empty_array',
    );
  }
  for (const [index, message] of messages.entries()) {
    const { role, content } = (message ?? {}) as Record<string, unknown>;
    if (typeof role !== 'string' || !ROLES.includes(role)) {
      return refuse(
        `Invalid value: '${String(role)}'. Supported values are: ${ROLES.join(', ')}.`,
        `messages[${index}].role`,
        'invalid_value',
      );
    }
    if (typeof content !== 'string' && !Array.isArray(content) && role !== 'assistant') {
      return refuse(`Invalid type for 'messages[${index}].content'.`, `messages[${index}].content`, 'invalid_type');
    }
  }
  const read = readFormat(format, formats);
  if (!read.ok) return read;
  const hasJsonWord = JSON.stringify(messages).toLowerCase().includes('json');
  if (read.format.type === 'json_object' && !hasJsonWord) {
    return refuse(
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
      'messages',
      null,
    );
  }
  return {
    ok: true,
    request: {
      model,
      messages: messages as ChatRequest['messages'],
      stream: stream === true,
      responseFormat: read.format,
    },
  };
}

function readFormat(
  given: unknown,
  formats: readonly string[],
): { ok: true; format: ChatRequest['responseFormat'] } | Extract<ReadRequest, { ok: false }> {
  if (given === undefined) return { ok: true, format: { type: 'text', schema: null } };
  const { type, json_schema: described } = (given ?? {}) as Record<string, unknown>;
  if (typeof type !== 'string' || !formats.includes(type)) {
    return refuse(
      `Invalid value: '${String(type)}'. Supported values are: ${formats.join(', ')}.`,
      'response_format.type',
      'invalid_value',
    );
  }
  if (type !== 'json_schema') return { ok: true, format: { type: type as 'text', schema: null } };
  const { name, schema, strict } = (described ?? {}) as Record<string, unknown>;
  if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    return refuse(
      "Missing required parameter: 'response_format.json_schema.name'.",
      'response_format.json_schema.name',
      'missing_required_parameter',
    );
  }
  const fault = strict === true ? strictFault(schema) : null;
  if (fault !== null) return refuse(`Invalid schema for response_format '${name}': ${fault}`, 'response_format', null);
  return { ok: true, format: { type: 'json_schema', schema } };
}

function refuse(message: string, param: string | null, code: string | null): Extract<ReadRequest, { ok: false }> {
  return { ok: false, error: { status: 400, message, type: 'invalid_request_error', param, code } };
}
