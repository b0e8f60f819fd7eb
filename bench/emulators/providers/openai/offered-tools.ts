/** `tools` and `tool_choice` of a chat request, checked as the service checks them. Pure. */

import type { OfferedTool, ToolChoice } from '../mind/question.ts';
import { strictFault } from '../mind/strict-schema.ts';
import { RequestRefused, unknownParameter, wrongType } from './api-error.ts';

type Fields = Record<string, unknown>;

const NAME = /^[a-zA-Z0-9_-]+$/;
const LONGEST_NAME = 64;
const MOST_TOOLS = 128;
const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];

/** Throws `RequestRefused`. */
export function readTools(given: unknown): OfferedTool[] {
  if (given === undefined) return [];
  if (!Array.isArray(given)) throw wrongType('tools', 'an array of objects', given);
  if (given.length === 0) {
    const message =
      "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.";
    throw new RequestRefused(message, 'tools', 'empty_array');
  }
  if (given.length > MOST_TOOLS) {
    const message = `Invalid 'tools': array too long. Expected an array with maximum length ${MOST_TOOLS}, but got an array with length ${given.length} instead.`;
    throw new RequestRefused(message, 'tools', 'array_above_max_length');
  }
  return given.map(readTool);
}

function readTool(given: Fields | null, index: number): OfferedTool {
  const at = `tools[${index}]`;
  if (typeof given !== 'object' || given === null) throw wrongType(at, 'an object', given);
  if (given['type'] === undefined) throw missing(`${at}.type`);
  if (given['type'] !== 'function') {
    const message = `Invalid value: '${String(given['type'])}'. Supported values are: 'function'.`;
    throw new RequestRefused(message, `${at}.type`, 'invalid_value');
  }
  const described = given['function'] as Fields | undefined;
  if (typeof described !== 'object' || described === null) throw missing(`${at}.function`);
  for (const name of Object.keys(given)) {
    if (!['type', 'function'].includes(name)) throw unknownParameter(`${at}.${name}`);
  }
  for (const name of Object.keys(described)) {
    if (!['name', 'description', 'parameters', 'strict'].includes(name)) {
      throw unknownParameter(`${at}.function.${name}`);
    }
  }
  const { name, description, parameters, strict } = described;
  checkName(name, `${at}.function.name`);
  if (description !== undefined && typeof description !== 'string') {
    throw wrongType(`${at}.function.description`, 'a string', description);
  }
  const fault = parameters === undefined ? null : schemaFault(parameters, strict === true);
  if (fault !== null) {
    const message = `Invalid schema for function '${String(name)}': ${fault}`;
    throw new RequestRefused(message, `${at}.function.parameters`, 'invalid_function_parameters');
  }
  return given as unknown as OfferedTool;
}

function checkName(name: unknown, param: string): void {
  if (name === undefined) throw missing(param);
  if (typeof name !== 'string') throw wrongType(param, 'a string', name);
  if (!NAME.test(name)) {
    const message = `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
    throw new RequestRefused(message, param, 'invalid_value');
  }
  if (name.length > LONGEST_NAME) {
    const message = `Invalid '${param}': string too long. Expected a string with maximum length ${LONGEST_NAME}, but got a string with length ${name.length} instead.`;
    throw new RequestRefused(message, param, 'string_above_max_length');
  }
}

function missing(param: string): RequestRefused {
  return new RequestRefused(`Missing required parameter: '${param}'.`, param, 'missing_required_parameter');
}

function schemaFault(schema: unknown, isStrict: boolean): string | null {
  const type = (schema as Fields | null)?.['type'];
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    return 'schema must be a JSON Schema of \'type: "object"\'.';
  if (type !== 'object')
    return `schema must be a JSON Schema of 'type: "object"', got 'type: "${type === undefined ? 'None' : String(type)}"'.`;
  return isStrict ? strictFault(schema) : looseFault(schema as Fields, []);
}

/** What is refused without `strict` too: unknown types, lists without items, properties that are no schemas. */
function looseFault(schema: Fields, path: readonly string[]): string | null {
  const where = `In context=(${path.map((part) => `'${part}'`).join(', ')})`;
  const { type, properties, items } = schema;
  for (const one of type === undefined ? [] : [type].flat()) {
    if (!TYPES.includes(one as string)) {
      return `${JSON.stringify(one)} is not valid under any of the given schemas.`;
    }
  }
  if ([type].flat().includes('array') && items === undefined) return `${where}, array schema missing items.`;
  const inner: [string[], unknown][] = Object.entries((properties ?? {}) as Fields).map(([name, one]) => [
    ['properties', name],
    one,
  ]);
  if (items !== undefined) inner.push([['items'], items]);
  for (const [step, one] of inner) {
    if (typeof one === 'boolean') continue;
    if (typeof one !== 'object' || one === null) return `${JSON.stringify(one)} is not of type 'object', 'boolean'.`;
    const fault = looseFault(one as Fields, [...path, ...step]);
    if (fault !== null) return fault;
  }
  return null;
}

export function readToolChoice(given: unknown, tools: readonly OfferedTool[]): ToolChoice {
  if (given === undefined || given === null) return tools.length === 0 ? 'none' : 'auto';
  if (tools.length === 0) {
    throw new RequestRefused("'tool_choice' is only allowed when 'tools' are specified.", 'tool_choice', null);
  }
  if (given === 'auto' || given === 'none' || given === 'required') return given;
  const name = ((given as Fields)['function'] as Fields | undefined)?.['name'];
  if (typeof given !== 'object' || (given as Fields)['type'] !== 'function' || typeof name !== 'string') {
    const message = `Invalid value: '${String(given)}'. Supported values are: 'none', 'auto', and 'required'.`;
    throw new RequestRefused(message, 'tool_choice', 'invalid_value');
  }
  if (tools.some((tool) => tool.function.name === name)) return { name };
  const message = `Invalid value for 'tool_choice': no function named ${name} was specified in the 'tools' parameter.`;
  throw new RequestRefused(message, 'tool_choice', null);
}
