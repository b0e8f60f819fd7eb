/**
 * A tool's arguments against its `parameters` (JSON Schema, draft 2020-12). The import asks whether the schema will do at all, the executor
 * whether these arguments fit. A schema comes from whoever writes the agent, so what could stall the process is refused: references to
 * other documents, deep or large schemas, and regular expressions that can run away.
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';

const MOST_SCHEMA_CHARACTERS = 16_384;
const DEEPEST = 12;
const MOST_KEPT = 500;
const PATTERN_KEYWORDS = new Set(['pattern']);
const REFUSED_KEYWORDS = [
  '$ref',
  '$dynamicRef',
  '$id',
  '$anchor',
  '$dynamicAnchor',
  '$defs',
  'definitions',
  'patternProperties',
];

/** `coerceTypes`: a script's arguments are texts, and `"42"` is what a caller says for 42. */
const ajv = new Ajv2020({
  strictSchema: true,
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  validateFormats: false,
  coerceTypes: true,
  allErrors: false,
  addUsedSchema: false,
  logger: false,
});
/** By the schema's text; oldest use first. */
const compiled = new Map<string, ValidateFunction>();

export interface SchemaFault {
  /** Path inside the schema. */
  at: (string | number)[];
  problem: string;
}

/** All that is wrong with a schema; empty when it will do. */
export function schemaFaults(schema: Readonly<Record<string, unknown>>): SchemaFault[] {
  if (JSON.stringify(schema).length > MOST_SCHEMA_CHARACTERS) {
    return [{ at: [], problem: `must have at most ${MOST_SCHEMA_CHARACTERS} characters` }];
  }
  const faults: SchemaFault[] = [];
  if (schema['type'] !== 'object') faults.push({ at: ['type'], problem: 'must be "object": arguments have names' });
  walk(schema, [], faults);
  if (faults.length > 0) return faults;
  if (!ajv.validateSchema(schema)) {
    return (ajv.errors ?? []).slice(0, 10).map((error) => ({
      at: pathOf(error.instancePath),
      problem: `${error.message ?? 'is wrong'} (JSON Schema)`,
    }));
  }
  try {
    compile(schema);
    return [];
  } catch (error) {
    return [{ at: [], problem: `is no JSON Schema: ${(error as Error).message.replace(/^strict mode: /, '')}` }];
  }
}

export type CheckedArguments = { ok: true; value: Record<string, unknown> } | { ok: false; problem: string };

/** `value` is a copy, with texts turned into the numbers and truths that the schema asks for. `schema` has passed `schemaFaults`. */
export function checkArguments(
  schema: Readonly<Record<string, unknown>> | undefined,
  args: Readonly<Record<string, unknown>>,
): CheckedArguments {
  const value = structuredClone(args) as Record<string, unknown>;
  if (schema === undefined) return { ok: true, value };
  const validate = compile(schema);
  if (validate(value)) return { ok: true, value };
  return { ok: false, problem: problemOf(validate.errors?.[0]) };
}

function compile(schema: Readonly<Record<string, unknown>>): ValidateFunction {
  const key = JSON.stringify(schema);
  const known = compiled.get(key) ?? ajv.compile(schema);
  compiled.delete(key);
  compiled.set(key, known);
  for (const oldest of compiled.keys()) {
    if (compiled.size <= MOST_KEPT) break;
    const validate = compiled.get(oldest);
    compiled.delete(oldest);
    if (validate !== undefined) ajv.removeSchema(validate.schema);
  }
  return known;
}

/** Never quotes the value: it is what a caller said. */
function problemOf(error: ErrorObject | undefined): string {
  const path = pathOf(error?.instancePath ?? '').join('.');
  return `${path === '' ? 'The arguments' : `'${path}'`} ${error?.message ?? 'do not fit'}.`;
}

function walk(schema: unknown, at: (string | number)[], faults: SchemaFault[]): void {
  if (typeof schema !== 'object' || schema === null) return;
  if (at.length > DEEPEST * 2) {
    faults.push({ at, problem: `is nested more than ${DEEPEST} deep` });
    return;
  }
  for (const [key, value] of Object.entries(schema)) {
    const here = [...at, Array.isArray(schema) ? Number(key) : key];
    const isKeyword = !Array.isArray(schema) && at.at(-1) !== 'properties';
    if (isKeyword && REFUSED_KEYWORDS.includes(key)) {
      faults.push({ at: here, problem: 'is not taken here; write the schema out' });
    } else if (isKeyword && PATTERN_KEYWORDS.has(key)) {
      if (!isTamePattern(value)) {
        faults.push({
          at: here,
          problem: 'may not repeat a group, look around, refer back, or repeat without end more than twice',
        });
      }
    } else if (isKeyword && ['enum', 'const', 'default', 'examples'].includes(key)) continue;
    else walk(value, here, faults);
  }
}

/** Of these, matching takes at most the square of the text's length. */
function isTamePattern(pattern: unknown): boolean {
  if (typeof pattern !== 'string' || pattern.length > 200) return false;
  try {
    new RegExp(pattern, 'u');
  } catch {
    return false;
  }
  const bare = pattern.replace(/\\[^1-9k]/g, 'x').replace(/\[[^\]]*\]/g, 'x');
  if (/\)[*+?{]|\\[1-9k]|\(\?[=!<]/.test(bare)) return false;
  const repeats = bare.match(/[*+]|\{\d+,\d*\}/g) ?? [];
  return repeats.filter((one) => !/^\{\d+,(\d|[1-5]\d)\}$/.test(one)).length <= 2;
}

function pathOf(pointer: string): (string | number)[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}
