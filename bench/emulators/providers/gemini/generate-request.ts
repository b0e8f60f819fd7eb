/**
 * What a request for content is refused for before the model thinks, in the service's words, and what is left for the
 * model to see. Above all: uses of tools and their results stand next to each other, as many of the one as of the
 * other. Pure.
 */
import type { AskedMessage, AskedQuestion, OfferedTool, ResponseFormat, ToolChoice } from '../mind/question.ts';
import { RequestRefused } from './api-error.ts';
import { checkSignature } from './signatures.ts';

export interface GenerateRequest extends AskedQuestion {
  /** As sent, for usage. */
  rawMessages: unknown[];
  maxTokens: number;
  stop: string[];
  isThinking: boolean;
  includesThoughts: boolean;
}

type Fields = Record<string, unknown>;

const KNOWN = ['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig', 'safetySettings'];
const KNOWN_CONFIG = [
  'candidateCount',
  'frequencyPenalty',
  'maxOutputTokens',
  'presencePenalty',
  'responseJsonSchema',
  'responseMimeType',
  'responseModalities',
  'responseSchema',
  'seed',
  'stopSequences',
  'temperature',
  'thinkingConfig',
  'topK',
  'topP',
];
const KNOWN_PART = ['text', 'thought', 'thoughtSignature', 'functionCall', 'functionResponse'];
const KNOWN_DECLARATION = ['name', 'description', 'parameters', 'parametersJsonSchema', 'behavior', 'response'];
/** Of the older form of a schema; the newer takes JSON Schema whole. */
const KNOWN_SCHEMA = [
  'anyOf',
  'default',
  'description',
  'enum',
  'example',
  'format',
  'items',
  'maxItems',
  'maxLength',
  'maximum',
  'minItems',
  'minLength',
  'minimum',
  'nullable',
  'pattern',
  'properties',
  'propertyOrdering',
  'required',
  'title',
  'type',
];
const LEVELS = ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'];
const FUNCTION_NAME = /^[A-Za-z_][\w.:-]{0,127}$/;
const MOST_TOKENS = 65_536;

/** Throws `RequestRefused`. Of models whose name has `pro` in it some are always thinking. */
export function readGenerateRequest(body: Buffer, model: string): GenerateRequest {
  const fields = parsedObject(body);
  known(fields, KNOWN, '');
  const config = (fields['generationConfig'] ?? {}) as Fields;
  known(config, KNOWN_CONFIG, 'generation_config');
  const { maxOutputTokens, temperature, stopSequences } = config;
  if (temperature !== undefined && !(typeof temperature === 'number' && temperature >= 0 && temperature <= 2))
    throw new RequestRefused(
      `* GenerateContentRequest.generation_config.temperature: temperature must be in the range [0.0, 2.0].`,
    );
  const tools = readTools(fields['tools']);
  const system = readSystem(fields['systemInstruction']);
  const contents = fields['contents'];
  if (!Array.isArray(contents) || contents.length === 0)
    throw new RequestRefused('* GenerateContentRequest.contents: contents is not specified');
  return {
    model,
    messages: [...system, ...readTurns(turnsOf(contents as Fields[]))],
    rawMessages: [...system, ...contents],
    tools,
    toolChoice: readToolChoice(fields['toolConfig']),
    parallelCalls: true,
    responseFormat: readFormat(config),
    maxTokens: typeof maxOutputTokens === 'number' ? maxOutputTokens : MOST_TOKENS,
    stop: (stopSequences as string[] | undefined) ?? [],
    ...readThinking((config['thinkingConfig'] ?? {}) as Fields, model),
  };
}

function parsedObject(body: Buffer): Fields {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  } catch {}
  throw new RequestRefused('Invalid JSON payload received. Expected a value.');
}

function known(fields: Fields, names: readonly string[], at: string): void {
  for (const name of Object.keys(fields)) {
    if (names.includes(name)) continue;
    const where = at === '' ? '' : ` at '${at}'`;
    throw new RequestRefused(`Invalid JSON payload received. Unknown name "${name}"${where}: Cannot find field.`);
  }
}

function readSystem(given: unknown): AskedMessage[] {
  if (given === undefined) return [];
  const text = ((given as Fields)['parts'] as Fields[]).map((part) => String(part['text'] ?? '')).join('');
  return [{ role: 'system', text, calls: [], callId: null }];
}

function readThinking(config: Fields, model: string): { isThinking: boolean; includesThoughts: boolean } {
  known(config, ['includeThoughts', 'thinkingBudget', 'thinkingLevel'], 'generation_config.thinking_config');
  const { includeThoughts, thinkingBudget: budget, thinkingLevel } = config;
  const level = thinkingLevel === undefined ? undefined : String(thinkingLevel).toUpperCase();
  if (budget !== undefined && level !== undefined)
    throw new RequestRefused('You can only set only one of thinking budget and thinking level.');
  if (level !== undefined && !LEVELS.includes(level))
    throw new RequestRefused(
      `Invalid value at 'generation_config.thinking_config.thinking_level' (type.googleapis.com/google.ai.generativelanguage.v1beta.ThinkingConfig.ThinkingLevel), "${thinkingLevel}"`,
    );
  const isAlwaysThinking = /\bpro\b/.test(model);
  if (level === 'MINIMAL' && isAlwaysThinking)
    throw new RequestRefused(
      'Thinking level MINIMAL is not supported for this model. Please retry with other thinking level.',
    );
  if (budget === 0 && isAlwaysThinking)
    throw new RequestRefused('Budget 0 is invalid. This model only works in thinking mode.');
  return { isThinking: level !== 'MINIMAL' && budget !== 0, includesThoughts: includeThoughts === true };
}

function readFormat(config: Fields): ResponseFormat {
  if (config['responseMimeType'] !== 'application/json') return { type: 'text', schema: null };
  const schema = config['responseJsonSchema'] ?? config['responseSchema'];
  return schema === undefined ? { type: 'json_object', schema: null } : { type: 'json_schema', schema };
}

// ── Tools ───────────────────────────────────────────────────────────────────────────────────────────────

function readTools(given: unknown): OfferedTool[] {
  if (given === undefined) return [];
  const tools: OfferedTool[] = [];
  for (const [at, tool] of (given as Fields[]).entries()) {
    known(tool, ['functionDeclarations'], `tools[${at}]`);
    for (const [index, one] of ((tool['functionDeclarations'] ?? []) as Fields[]).entries())
      tools.push(declaredTool(one, `tools[${at}].function_declarations[${index}]`));
  }
  const names = tools.map(({ function: { name } }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new RequestRefused(`Duplicate function declaration found: ${twice}`);
  return tools;
}

function declaredTool(one: Fields, at: string): OfferedTool {
  known(one, KNOWN_DECLARATION, at);
  const { name, description, parameters, parametersJsonSchema } = one;
  if (typeof name !== 'string' || !FUNCTION_NAME.test(name))
    throw new RequestRefused(
      `* GenerateContentRequest.${at}.name: Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.`,
    );
  if (parameters !== undefined && parametersJsonSchema !== undefined)
    throw new RequestRefused(`* GenerateContentRequest.${at}: only one of parameters and parameters_json_schema`);
  if (parameters !== undefined) checkSchema(parameters as Fields, `${at}.parameters`);
  const schema = (parametersJsonSchema ?? parameters ?? { type: 'object', properties: {} }) as Fields;
  if (String(schema['type']).toLowerCase() !== 'object')
    throw new RequestRefused(`* GenerateContentRequest.${at}.parameters.type: should be OBJECT`);
  return { type: 'function', function: { name, description: String(description ?? ''), parameters: schema } };
}

function checkSchema(schema: Fields, at: string): void {
  known(schema, KNOWN_SCHEMA, at);
  const { type, properties, items } = schema;
  const of = Object.entries((properties ?? {}) as Fields);
  if (String(type).toUpperCase() === 'OBJECT' && of.length === 0)
    throw new RequestRefused(`* GenerateContentRequest.${at}.properties: should be non-empty for OBJECT type`);
  for (const [name, one] of of) checkSchema(one as Fields, `${at}.properties[${name}]`);
  if (items !== undefined) checkSchema(items as Fields, `${at}.items`);
}

function readToolChoice(given: unknown): ToolChoice {
  const calling = ((given as Fields | undefined)?.['functionCallingConfig'] ?? {}) as Fields;
  const { mode = 'AUTO', allowedFunctionNames } = calling;
  const [only, ...others] = (allowedFunctionNames ?? []) as string[];
  if (only !== undefined && mode !== 'ANY' && mode !== 'VALIDATED')
    throw new RequestRefused('Function calling config is set without allowed mode: allowed_function_names wants ANY.');
  if (mode === 'AUTO' || mode === 'VALIDATED') return 'auto';
  if (mode === 'NONE') return 'none';
  if (mode === 'ANY') return only !== undefined && others.length === 0 ? { name: only } : 'required';
  throw new RequestRefused(
    `Invalid value at 'tool_config.function_calling_config.mode' (type.googleapis.com/google.ai.generativelanguage.v1beta.FunctionCallingConfig.Mode), "${String(mode)}"`,
  );
}

// ── Contents ────────────────────────────────────────────────────────────────────────────────────────────

interface Turn {
  role: 'user' | 'model';
  parts: Fields[];
  /** Of its first content, from 0. */
  index: number;
}

/** What a model says in several contents is one turn: clients keep a streamed answer as it came. */
function turnsOf(contents: readonly Fields[]): Turn[] {
  const turns: Turn[] = [];
  for (const [index, content] of contents.entries()) {
    known(content, ['role', 'parts'], `contents[${index}]`);
    const { role: given = 'user' } = content;
    if (given !== 'user' && given !== 'model' && given !== 'function')
      throw new RequestRefused('Please use a valid role: user, model.');
    const parts = partsOf(content);
    if (parts.length === 0)
      throw new RequestRefused(`* GenerateContentRequest.contents[${index}].parts: contents.parts must not be empty.`);
    for (const [at, part] of parts.entries()) checkPart(part, `contents[${index}].parts[${at}]`);
    const role = given === 'model' ? 'model' : 'user';
    const last = turns.at(-1);
    if (role === 'model' && last?.role === 'model') last.parts.push(...parts);
    else turns.push({ role, parts: [...parts], index });
  }
  return turns;
}

function readTurns(turns: readonly Turn[]): AskedMessage[] {
  const latestUser = turns.findLastIndex(({ role, parts }) => role === 'user' && parts.some((part) => 'text' in part));
  const out: AskedMessage[] = [];
  let owed: AskedMessage['calls'] = [];
  for (const [at, { role, parts, index }] of turns.entries()) {
    const calls = callsOf(parts, index);
    if (calls.length > 0 && (role !== 'model' || at === 0))
      throw new RequestRefused(
        'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
      );
    if (calls.length > 0 && at > latestUser) checkFirst(parts, index);
    out.push(...resultsOf(parts, owed));
    owed = calls;
    const text = parts.flatMap((part) => (typeof part['text'] === 'string' ? [part['text']] : [])).join('');
    if (text !== '' || calls.length > 0)
      out.push({ role: role === 'model' ? 'assistant' : 'user', text, calls, callId: null });
  }
  return out;
}

function partsOf(content: Fields): Fields[] {
  const parts = content['parts'];
  return Array.isArray(parts) ? (parts as Fields[]) : [];
}

function checkPart(part: Fields, at: string): void {
  known(part, KNOWN_PART, at);
  const data = ['text', 'functionCall', 'functionResponse'].filter((name) => name in part);
  if (data.length !== 1)
    throw new RequestRefused(
      `* GenerateContentRequest.${at}.data: required oneof field 'data' must have one initialized field`,
    );
  const { functionResponse } = part as { functionResponse?: Fields };
  const response = functionResponse?.['response'];
  if (functionResponse === undefined) return;
  if (typeof functionResponse['name'] !== 'string' || functionResponse['name'] === '')
    throw new RequestRefused(`* GenerateContentRequest.${at}.function_response.name: Name cannot be empty.`);
  if (typeof response !== 'object' || response === null || Array.isArray(response))
    throw new RequestRefused(
      `Invalid value at '${at}.function_response.response' (type.googleapis.com/google.protobuf.Struct)`,
    );
}

function callsOf(parts: readonly Fields[], index: number): AskedMessage['calls'] {
  return parts.flatMap(({ functionCall }, at) => {
    if (functionCall === undefined) return [];
    const { id = `${index}.${at}`, name, args = {} } = functionCall as Fields;
    return [{ id: String(id), name: String(name), arguments: JSON.stringify(args) }];
  });
}

function checkFirst(parts: readonly Fields[], index: number): void {
  const first = parts.find((part) => 'functionCall' in part)!;
  checkSignature(first['thoughtSignature'], String((first['functionCall'] as Fields)['name']), index + 1);
}

/** By their ids, else in their order. */
function resultsOf(parts: readonly Fields[], owed: AskedMessage['calls']): AskedMessage[] {
  const results = parts.flatMap((part) => ('functionResponse' in part ? [part['functionResponse'] as Fields] : []));
  if (results.length > 0 && owed.length === 0)
    throw new RequestRefused('Please ensure that function response turn comes immediately after a function call turn.');
  if (results.length !== owed.length)
    throw new RequestRefused(
      'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
    );
  return results.map(({ id, response }, at) => ({
    role: 'tool' as const,
    text: outputOf(response as Fields),
    calls: [],
    callId: owed.find((call) => call.id === id)?.id ?? owed[at]!.id,
  }));
}

/** What stands below `output` is the result; without it all is. */
function outputOf(response: Fields): string {
  const { output, ...rest } = response;
  if (output === undefined || Object.keys(rest).length > 0) return JSON.stringify(response);
  return typeof output === 'string' ? output : JSON.stringify(output);
}
