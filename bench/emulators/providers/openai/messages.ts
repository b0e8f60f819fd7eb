/**
 * The history of a chat request, checked as the service checks it: roles, contents, and above all tools. Each call of
 * an assistant message is answered by exactly one tool message, and those follow it at once. Pure.
 */
import type { AskedMessage } from '../mind/question.ts';
import { RequestRefused, unknownParameter, wrongType } from './api-error.ts';

type Fields = Record<string, unknown>;

const FIELDS: Record<string, readonly string[]> = {
  system: ['role', 'content', 'name'],
  developer: ['role', 'content', 'name'],
  user: ['role', 'content', 'name'],
  // `parsed` is no parameter, but the official client sends back what it parsed, and the service takes it.
  assistant: ['role', 'content', 'name', 'refusal', 'tool_calls', 'audio', 'annotations', 'function_call', 'parsed'],
  tool: ['role', 'content', 'tool_call_id'],
};
const ROLES = ['system', 'assistant', 'user', 'function', 'tool', 'developer'];

/** Throws `RequestRefused`. */
export function readMessages(given: unknown): AskedMessage[] {
  if (given === undefined) {
    throw new RequestRefused("Missing required parameter: 'messages'.", 'messages', 'missing_required_parameter');
  }
  if (!Array.isArray(given)) throw wrongType('messages', 'an array of objects', given);
  if (given.length === 0) {
    throw new RequestRefused(
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      'messages',
      'empty_array',
    );
  }
  const messages = given.map(readMessage);
  checkToolAnswers(messages);
  return messages;
}

function readMessage(given: unknown, index: number): AskedMessage {
  const at = `messages[${index}]`;
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw wrongType(at, 'an object', given);
  const fields = given as Fields;
  const { role } = fields;
  if (role === undefined) {
    throw new RequestRefused(`Missing required parameter: '${at}.role'.`, `${at}.role`, 'missing_required_parameter');
  }
  const known = FIELDS[role as string];
  if (known === undefined) {
    throw new RequestRefused(
      `Invalid value: '${String(role)}'. Supported values are: ${ROLES.map((one) => `'${one}'`).join(', ')}.`,
      `${at}.role`,
      'invalid_value',
    );
  }
  for (const name of Object.keys(fields)) if (!known.includes(name)) throw unknownParameter(`${at}.${name}`);
  const calls = role === 'assistant' ? readCalls(fields['tool_calls'], at) : [];
  const text = readContent(fields['content'], at, index, calls.length > 0 || fields['refusal'] !== undefined);
  const callId = role === 'tool' ? readCallId(fields['tool_call_id'], index) : null;
  return { role: role === 'developer' ? 'system' : (role as AskedMessage['role']), text, calls, callId };
}

function readContent(given: unknown, at: string, index: number, mayBeAbsent: boolean): string {
  if (typeof given === 'string') return given;
  if (given === undefined || given === null) {
    if (mayBeAbsent) return '';
    throw new RequestRefused(
      `Invalid value for 'content': expected a string, got null.`,
      `messages.[${index}].content`,
      null,
    );
  }
  if (!Array.isArray(given)) throw wrongType(`${at}.content`, 'one of a string or array of objects', given);
  return given
    .map((part: Fields | null, at2) => {
      const where = `${at}.content[${at2}]`;
      if (part?.['type'] === 'text' && typeof part['text'] === 'string') return part['text'];
      if (part?.['type'] === 'refusal' && typeof part['refusal'] === 'string') return part['refusal'];
      throw new RequestRefused(
        `Invalid value: '${String(part?.['type'])}'. This server takes parts of type 'text'.`,
        `${where}.type`,
        'invalid_value',
      );
    })
    .join('');
}

function readCalls(given: unknown, at: string): AskedMessage['calls'] {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given)) throw wrongType(`${at}.tool_calls`, 'an array of objects', given);
  if (given.length === 0) {
    throw new RequestRefused(
      `Invalid '${at}.tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
      `${at}.tool_calls`,
      'empty_array',
    );
  }
  return given.map((call: Fields | null, index) => {
    const where = `${at}.tool_calls[${index}]`;
    const described = (call?.['function'] ?? {}) as Fields;
    const required: [string, unknown][] = [
      ['id', call?.['id']],
      ['type', call?.['type']],
      ['function', call?.['function']],
      ['function.name', described['name']],
      ['function.arguments', described['arguments']],
    ];
    for (const [name, value] of required) {
      const param = `${where}.${name}`;
      if (value === undefined) {
        throw new RequestRefused(`Missing required parameter: '${param}'.`, param, 'missing_required_parameter');
      }
      if (name !== 'function' && typeof value !== 'string') throw wrongType(param, 'a string', value);
    }
    for (const name of Object.keys(call!)) {
      if (!['id', 'type', 'function'].includes(name)) throw unknownParameter(`${where}.${name}`);
    }
    return {
      id: call!['id'] as string,
      name: described['name'] as string,
      arguments: described['arguments'] as string,
    };
  });
}

function readCallId(given: unknown, index: number): string {
  if (typeof given === 'string') return given;
  throw new RequestRefused(
    "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.",
    `messages.[${index}].tool_call_id`,
    null,
  );
}

function checkToolAnswers(messages: readonly AskedMessage[]): void {
  for (let index = 0; index < messages.length; index++) {
    const { role, calls } = messages[index]!;
    if (role === 'tool') throw toolWithoutCall(index);
    if (calls.length === 0) continue;
    const answered = new Map<string, number>();
    while (messages[index + 1]?.role === 'tool') {
      const id = messages[++index]!.callId!;
      const before = answered.get(id);
      if (before !== undefined) {
        throw new RequestRefused(
          `Invalid parameter: Duplicate value for 'tool_call_id' of '${id}', in messages[${before}] and messages[${index}].`,
          `messages.[${index}].tool_call_id`,
          null,
        );
      }
      if (!calls.some((call) => call.id === id)) {
        throw new RequestRefused(
          `Invalid parameter: 'tool_call_id' of '${id}' not found in 'tool_calls' of previous message.`,
          `messages.[${index}].tool_call_id`,
          null,
        );
      }
      answered.set(id, index);
    }
    const missing = calls.filter(({ id }) => !answered.has(id)).map(({ id }) => id);
    if (missing.length === 0) continue;
    throw new RequestRefused(
      `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${missing.join(', ')}`,
      'messages',
      null,
    );
  }
}

function toolWithoutCall(index: number): RequestRefused {
  return new RequestRefused(
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    `messages.[${index}].role`,
    null,
  );
}
