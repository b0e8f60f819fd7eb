/** `response_format` of a chat request: what is refused, with the service's words, and what was asked for. Pure. */
import type { ResponseFormat } from '../mind/question.ts';
import { strictFault } from '../mind/strict-schema.ts';
import { RequestRefused } from './api-error.ts';

/** Throws `RequestRefused`. `known`: older servers know fewer formats. */
export function readResponseFormat(given: unknown, known: readonly string[], messages: unknown): ResponseFormat {
  if (given === undefined || given === null) return { type: 'text', schema: null };
  const { type, json_schema: described } = given as Record<string, unknown>;
  if (typeof type !== 'string' || !known.includes(type)) {
    throw new RequestRefused(
      `Invalid value: '${String(type)}'. Supported values are: ${known.join(', ')}.`,
      'response_format.type',
      'invalid_value',
    );
  }
  if (type === 'json_object' && !JSON.stringify(messages).toLowerCase().includes('json')) {
    throw new RequestRefused(
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
      'messages',
      null,
    );
  }
  if (type !== 'json_schema') return { type: type as ResponseFormat['type'], schema: null };
  const { name, schema, strict } = (described ?? {}) as Record<string, unknown>;
  if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    const param = 'response_format.json_schema.name';
    throw new RequestRefused(`Missing required parameter: '${param}'.`, param, 'missing_required_parameter');
  }
  const fault = strict === true ? strictFault(schema) : null;
  if (fault !== null)
    throw new RequestRefused(`Invalid schema for response_format '${name}': ${fault}`, 'response_format', null);
  return { type: 'json_schema', schema };
}
