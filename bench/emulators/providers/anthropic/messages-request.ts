/**
 * What `POST /v1/messages` refuses before the model thinks, in the service's words, and what is left for the model to
 * see. Above all: each use of a tool has its result at the beginning of the next message. Pure.
 */
import type { AskedMessage, AskedQuestion, OfferedTool, ToolChoice } from '../mind/question.ts';
import { RequestRefused } from './api-error.ts';

export interface MessagesRequest extends AskedQuestion {
  /** As sent, for usage. */
  rawMessages: unknown[];
  stream: boolean;
  maxTokens: number;
  stop: string[];
}

type Fields = Record<string, unknown>;

const KNOWN = [
  'cache_control',
  'container',
  'inference_geo',
  'max_tokens',
  'messages',
  'metadata',
  'model',
  'output_config',
  'service_tier',
  'stop_sequences',
  'stream',
  'system',
  'temperature',
  'thinking',
  'tool_choice',
  'tools',
  'top_k',
  'top_p',
];
const SAMPLING = ['temperature', 'top_p', 'top_k'];
const BLOCK_FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: ['type', 'text', 'cache_control', 'citations'],
  tool_use: ['type', 'id', 'name', 'input', 'cache_control', 'caller'],
  tool_result: ['type', 'tool_use_id', 'content', 'is_error', 'cache_control'],
};
const TOOL_FIELDS = ['name', 'description', 'input_schema', 'cache_control', 'strict', 'type'];
const NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const ID = /^[a-zA-Z0-9_-]+$/;
const COMBINED = ['oneOf', 'allOf', 'anyOf'];
const MOST_KEPT = 4;

/** Throws `RequestRefused`. `takesSampling`: the version of the protocol that was asked for knows temperatures. */
export function readMessagesRequest(body: Buffer, takesSampling: boolean): MessagesRequest {
  const fields = parsedObject(body);
  for (const name of Object.keys(fields)) {
    if (!KNOWN.includes(name)) throw new RequestRefused(`${name}: Extra inputs are not permitted`);
    if (SAMPLING.includes(name) && !takesSampling)
      throw new RequestRefused(`\`${name}\` is not supported in this version of the API.`);
  }
  for (const name of ['model', 'max_tokens', 'messages']) {
    if (fields[name] === undefined) throw new RequestRefused(`${name}: Field required`);
  }
  const { model, max_tokens: maxTokens, messages, temperature, thinking } = fields;
  if (typeof model !== 'string') throw new RequestRefused('model: Input should be a valid string');
  if (!Number.isInteger(maxTokens)) throw new RequestRefused('max_tokens: Input should be a valid integer');
  if (temperature !== undefined && !(typeof temperature === 'number' && temperature >= 0 && temperature <= 1))
    throw new RequestRefused('temperature: range: 0..1');
  const kind = (thinking as Fields | undefined)?.['type'];
  if (thinking !== undefined && !['disabled', 'enabled', 'adaptive'].includes(String(kind)))
    throw new RequestRefused(`thinking: Input tag '${String(kind)}' found using 'type' does not match any tag`);
  const kept = (JSON.stringify(fields).match(/"cache_control":\{/g) ?? []).length;
  if (kept > MOST_KEPT)
    throw new RequestRefused(`A maximum of ${MOST_KEPT} blocks with cache_control may be provided. Found ${kept}.`);
  const tools = readTools(fields['tools']);
  const { toolChoice, parallelCalls } = readToolChoice(fields['tool_choice'], tools);
  const system = readSystem(fields['system']);
  return {
    model,
    messages: [...system, ...readMessages(messages)],
    rawMessages: [...system, ...(messages as unknown[])],
    tools,
    toolChoice,
    parallelCalls,
    responseFormat: { type: 'text', schema: null },
    stream: fields['stream'] === true,
    maxTokens: maxTokens as number,
    stop: (fields['stop_sequences'] as string[] | undefined) ?? [],
  };
}

function parsedObject(body: Buffer): Fields {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  } catch {}
  throw new RequestRefused('The request body is not valid JSON: a JSON object is expected.');
}

function readSystem(given: unknown): AskedMessage[] {
  if (given === undefined) return [];
  const text = typeof given === 'string' ? given : textOf(given, 'system');
  return [{ role: 'system', text, calls: [], callId: null }];
}

function readTools(given: unknown): OfferedTool[] {
  if (given === undefined) return [];
  if (!Array.isArray(given)) throw new RequestRefused('tools: Input should be a valid list');
  const names = new Set<string>();
  return given.map((tool: Fields, index) => {
    const at = `tools.${index}.custom`;
    for (const name of Object.keys(tool))
      if (!TOOL_FIELDS.includes(name)) throw new RequestRefused(`${at}.${name}: Extra inputs are not permitted`);
    const { name, description, input_schema: schema } = tool;
    if (typeof name !== 'string' || !NAME.test(name))
      throw new RequestRefused(`${at}.name: String should match pattern '${NAME.source}'`);
    if (names.has(name)) throw new RequestRefused('tools: Tool names must be unique.');
    names.add(name);
    if (schema === undefined) throw new RequestRefused(`${at}.input_schema: Field required`);
    if ((schema as Fields)['type'] !== 'object')
      throw new RequestRefused(`${at}.input_schema.type: Input should be 'object'`);
    if (COMBINED.some((word) => word in (schema as Fields)))
      throw new RequestRefused(
        `${at}.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`,
      );
    return {
      type: 'function' as const,
      function: { name, description: String(description ?? ''), parameters: schema as Fields },
    };
  });
}

function readToolChoice(
  given: unknown,
  tools: readonly OfferedTool[],
): { toolChoice: ToolChoice; parallelCalls: boolean } {
  if (given === undefined) return { toolChoice: 'auto', parallelCalls: true };
  const { type, name, disable_parallel_tool_use: isSingle } = given as Fields;
  if (tools.length === 0) throw new RequestRefused('tool_choice: Tools must be provided when using a tool choice.');
  const parallelCalls = isSingle !== true;
  if (type === 'auto' || type === 'none') return { toolChoice: type, parallelCalls };
  if (type === 'any') return { toolChoice: 'required', parallelCalls };
  if (type === 'tool' && typeof name === 'string') return { toolChoice: { name }, parallelCalls };
  throw new RequestRefused(`tool_choice: Input tag '${String(type)}' does not match any of the expected tags`);
}

// ── Messages ────────────────────────────────────────────────────────────────────────────────────────────

function readMessages(given: unknown): AskedMessage[] {
  if (!Array.isArray(given)) throw new RequestRefused('messages: Input should be a valid list');
  if (given.length === 0) throw new RequestRefused('messages: at least one message is required');
  const roles = given.map((message: Fields, index) => {
    const { role } = message;
    if (role !== 'user' && role !== 'assistant')
      throw new RequestRefused(`messages.${index}.role: Input should be 'user' or 'assistant'`);
    return role;
  });
  if (roles[0] !== 'user') throw new RequestRefused('messages: first message must use the "user" role');
  if (roles.at(-1) !== 'user')
    throw new RequestRefused(
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    );
  const out: AskedMessage[] = [];
  let owed: string[] = [];
  for (const [index, message] of (given as Fields[]).entries()) {
    const blocks = blocksOf(message['content'], index);
    const results = checkResults(blocks, owed, index);
    out.push(...results);
    const text = blocks.filter(({ type }) => type === 'text').map((block) => String(block['text']));
    const calls = blocks
      .filter(({ type }) => type === 'tool_use')
      .map((block) => ({
        id: String(block['id']),
        name: String(block['name']),
        arguments: JSON.stringify(block['input']),
      }));
    owed = calls.map(({ id }) => id);
    if (text.length > 0 || calls.length > 0)
      out.push({ role: roles[index]!, text: text.join(''), calls, callId: null });
  }
  return out;
}

function blocksOf(content: unknown, index: number): Fields[] {
  const at = `messages.${index}.content`;
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (!Array.isArray(blocks)) throw new RequestRefused(`${at}: Input should be a valid list`);
  if (blocks.length === 0) throw new RequestRefused(`messages.${index}: all messages must have non-empty content`);
  for (const [i, block] of (blocks as Fields[]).entries()) {
    const known = BLOCK_FIELDS[String(block['type'])];
    if (known === undefined)
      throw new RequestRefused(`${at}.${i}: Input tag '${String(block['type'])}' found using 'type' does not match`);
    for (const name of Object.keys(block))
      if (!known.includes(name))
        throw new RequestRefused(`${at}.${i}.${String(block['type'])}.${name}: Extra inputs are not permitted`);
    if (block['type'] === 'text' && String(block['text']).trim() === '')
      throw new RequestRefused('messages: text content blocks must contain non-whitespace text');
    if (block['type'] === 'tool_use') checkUse(block, `${at}.${i}.tool_use`);
  }
  return blocks as Fields[];
}

function checkUse({ id, name, input }: Fields, at: string): void {
  if (typeof id !== 'string' || !ID.test(id))
    throw new RequestRefused(`${at}.id: String should match pattern '${ID.source}'`);
  if (typeof name !== 'string' || !NAME.test(name))
    throw new RequestRefused(`${at}.name: String should match pattern '${NAME.source}'`);
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw new RequestRefused(`${at}.input: Input should be a valid dictionary`);
}

/** Of the message behind uses of tools: all of their results, before anything else. */
function checkResults(blocks: readonly Fields[], owed: readonly string[], index: number): AskedMessage[] {
  const results = blocks.filter(({ type }) => type === 'tool_result');
  const ids = results.map((block) => String(block['tool_use_id']));
  const strange = ids.findIndex((id) => !owed.includes(id));
  if (strange >= 0)
    throw new RequestRefused(
      `messages.${index}.content.${strange}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${ids[strange]}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
    );
  const first = blocks.slice(0, results.length).every(({ type }) => type === 'tool_result');
  const missing = first ? owed.filter((id) => !ids.includes(id)) : owed;
  if (missing.length > 0)
    throw new RequestRefused(
      `messages.${index - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
    );
  return results.map((block) => ({
    role: 'tool',
    text: typeof block['content'] === 'string' ? block['content'] : textOf(block['content'], 'tool_result'),
    calls: [],
    callId: String(block['tool_use_id']),
  }));
}

function textOf(blocks: unknown, at: string): string {
  if (blocks === undefined) return '';
  if (!Array.isArray(blocks)) throw new RequestRefused(`${at}: Input should be a valid list`);
  return blocks.map((block: Fields) => String(block['text'] ?? '')).join('');
}
