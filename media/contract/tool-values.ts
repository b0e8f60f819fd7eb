/**
 * The variables that a tool's result sets, as texts for placeholders. Pure; used by the
 * pipeline and by `parley tool test`.
 *
 *   tool.NAME.result           the answer's `result`, or all of it: a text as it is, the rest as compact JSON
 *   tool.NAME.result.FIELD     its own simple fields
 *   tool.NAME.status           HTTP status, where there was one
 *   tool.NAME.error            the failure's code
 *   and each of `responseVariables`
 */
import { parseJsonPath, readJsonPath } from './json-path.ts';
import { placeholderText } from './placeholders.ts';
import type { ToolAnswer, ToolDefinition } from './tools.ts';

const LONGEST_VALUE = 2_000;
const MOST_FIELDS = 50;
const KEY = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;

/** Null: the variable has no value now, whatever an earlier use gave it. */
export function toolValues(definition: ToolDefinition, answer: ToolAnswer): Record<string, string | null> {
  const prefix = `tool.${definition.name}`;
  const values: Record<string, string | null> = {
    [`${prefix}.result`]: null,
    [`${prefix}.status`]: answer.status === null ? null : String(answer.status),
    [`${prefix}.error`]: answer.ok ? null : answer.code,
  };
  for (const name of Object.keys(definition.responseVariables ?? {})) values[name] = null;
  if (!answer.ok) return values;
  const result = resultOf(answer.result);
  values[`${prefix}.result`] = textOf(result);
  for (const [field, value] of simpleFields(result)) {
    const key = `${prefix}.result.${field}`;
    if (KEY.test(key)) values[key] = textOf(value);
  }
  for (const [name, pathText] of Object.entries(definition.responseVariables ?? {})) {
    const path = parseJsonPath(pathText);
    const found = path === null ? undefined : readJsonPath(answer.result, path);
    if (found !== undefined && found !== null) values[name] = textOf(found);
  }
  return values;
}

/** `{"result": …}` stands for what is in it. */
function resultOf(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null || !Object.hasOwn(answer, 'result')) return answer;
  return (answer as { result: unknown }).result;
}

function simpleFields(result: unknown): [string, unknown][] {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return [];
  return Object.entries(result)
    .filter(([, value]) => typeof value !== 'object' || value === null)
    .slice(0, MOST_FIELDS);
}

function textOf(value: unknown): string {
  // Once more: the cut may leave half of a pair.
  return storable(storable(placeholderText(value)).slice(0, LONGEST_VALUE));
}

/** PostgreSQL stores neither NUL nor half of a surrogate pair, and nobody can say them. */
function storable(text: string): string {
  return text.replaceAll(String.fromCharCode(0), '').replace(/\p{Surrogate}/gu, '');
}
