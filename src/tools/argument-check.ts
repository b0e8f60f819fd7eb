/**
 * A tool's arguments against its `parameters` (JSON Schema, draft 2020-12). The import asks whether the schema will do
 * at all, the executor whether these arguments fit. A schema comes from whoever writes the agent, so what could stall
 * the process is refused: references to other documents, deep or large schemas, and regular expressions that can run
 * away; and a text of more than 500 characters fits no pattern.
 */
import { createRequire } from 'node:module';
import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';

const MOST_SCHEMA_CHARACTERS = 16_384;
const DEEPEST = 12;
const MOST_KEPT = 500;
const DRAFT = 'https://json-schema.org/draft/2020-12/schema';
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
/** Their values are schemas by name, and a name may be any word. */
const NAMED_SCHEMAS = ['properties', 'dependentSchemas', 'dependencies'];
/** Their values are no schemas. */
const DATA_KEYWORDS = ['enum', 'const', 'default', 'examples', 'required', 'dependentRequired'];

let made: Ajv2020 | null = null;

/**
 * Read and made with the first schema. `coerceTypes`: a script's arguments are texts, and
 * `"42"` is what a caller says for 42.
 */
function judge(): Ajv2020 {
  if (made !== null) return made;
  const { Ajv2020: Judge } = createRequire(import.meta.url)('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js');
  made = new Judge({
    strictSchema: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    validateFormats: false,
    coerceTypes: true,
    allErrors: false,
    addUsedSchema: false,
    logger: false,
    code: { regExp: Object.assign(boundedPattern, { code: 'boundedPattern' }) },
  });
  return made;
}

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
  if (schema['$schema'] !== undefined && schema['$schema'] !== DRAFT) {
    faults.push({ at: ['$schema'], problem: `must be "${DRAFT}", or left out` });
  }
  const cost = walk(schema, [], faults);
  if (cost > MOST_PATTERN_STEPS) {
    faults.push({ at: [], problem: 'has patterns that together take too long; make them fewer or plainer' });
  }
  if (faults.length > 0) return faults;
  try {
    const ajv = judge();
    if (!ajv.validateSchema(schema)) {
      return (ajv.errors ?? []).slice(0, 10).map((error) => ({
        at: pathOf(error.instancePath),
        problem: `${error.message ?? 'is wrong'} (JSON Schema)`,
      }));
    }
    compile(schema);
    return [];
  } catch (error) {
    return [{ at: [], problem: `is no JSON Schema: ${(error as Error).message.replace(/^strict mode: /, '')}` }];
  }
}

export type CheckedArguments = { ok: true; value: Record<string, unknown> } | { ok: false; problem: string };

/**
 * `value` is a copy, with texts turned into the numbers and truths that the schema asks for.
 * `schema` has passed `schemaFaults`.
 */
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
  const known = compiled.get(key) ?? judge().compile(schema);
  compiled.delete(key);
  compiled.set(key, known);
  for (const oldest of compiled.keys()) {
    if (compiled.size <= MOST_KEPT) break;
    const validate = compiled.get(oldest);
    compiled.delete(oldest);
    if (validate !== undefined) judge().removeSchema(validate.schema);
  }
  return known;
}

/** Never quotes the value: it is what a caller said. */
function problemOf(error: ErrorObject | undefined): string {
  const path = pathOf(error?.instancePath ?? '').join('.');
  return `${path === '' ? 'The arguments' : `'${path}'`} ${error?.message ?? 'do not fit'}.`;
}

/** Adds what is wrong with a schema, or with those in a list; returns what its patterns may cost, in steps. */
function walk(schema: unknown, at: (string | number)[], faults: SchemaFault[]): number {
  if (typeof schema !== 'object' || schema === null) return 0;
  if (at.length > DEEPEST * 2) {
    faults.push({ at, problem: `is nested more than ${DEEPEST} deep` });
    return 0;
  }
  if (Array.isArray(schema)) return sum(schema.map((one, place) => walk(one, [...at, place], faults)));
  const costs = Object.entries(schema).map(([key, value]) => {
    const here = [...at, key];
    if (REFUSED_KEYWORDS.includes(key)) {
      faults.push({ at: here, problem: 'is not taken here; write the schema out' });
      return 0;
    }
    if (key === 'pattern') {
      const steps = stepsOf(value);
      if (steps <= MOST_PATTERN_STEPS) return steps;
      faults.push({
        at: here,
        problem:
          'may not repeat a group, look around, refer back, or leave too many ways to match; begin it with ^, and do not repeat without end more than twice',
      });
      return 0;
    }
    if (DATA_KEYWORDS.includes(key)) return 0;
    if (!NAMED_SCHEMAS.includes(key) || typeof value !== 'object' || value === null) return walk(value, here, faults);
    return sum(Object.entries(value).map(([name, inner]) => walk(inner, [...here, name], faults)));
  });
  return sum(costs);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

/** A pattern is tried on no longer a text: what `stepsOf` promises holds for this. */
const LONGEST_MATCHED = 500;
/** Of one schema, by a matcher that backtracks: some ten milliseconds. */
const MOST_PATTERN_STEPS = 2_000_000;

/**
 * In how many ways a pattern may be tried, at most: an end to repeat to costs the text's length, and so does a
 * beginning that is not fixed; each choice multiplies. Infinity for what is not taken.
 */
function stepsOf(pattern: unknown): number {
  if (typeof pattern !== 'string' || pattern.length > 200) return Number.POSITIVE_INFINITY;
  try {
    new RegExp(pattern, 'u');
  } catch {
    return Number.POSITIVE_INFINITY;
  }
  const bare = pattern
    .replace(/\\[pP]\{[^}]*\}|\\u\{[^}]*\}/g, 'x')
    .replace(/\\[^1-9k]/g, 'x')
    .replace(/\[[^\]]*\]/g, 'x');
  if (/\)[*+?{]|\\[1-9k]|\(\?<?[=!]/.test(bare)) return Number.POSITIVE_INFINITY;
  const isAnchored = bare.startsWith('^') && !bare.includes('|');
  let steps = isAnchored ? 1 : LONGEST_MATCHED;
  for (const [part, least, comma, most] of bare.matchAll(/[*+|]|(?<!\()\?|\{(\d+)(,?)(\d*)\}/g)) {
    if (part === '|' || part === '?') steps *= 2;
    else if (part === '*' || part === '+' || most === '') steps *= comma === '' ? 1 : LONGEST_MATCHED;
    else steps *= Math.min(LONGEST_MATCHED, Number(most) - Number(least) + 1);
  }
  return steps;
}

class BoundedPattern extends RegExp {
  override test(text: string): boolean {
    return text.length <= LONGEST_MATCHED && super.test(text);
  }
}

function boundedPattern(pattern: string, flags: string): RegExp {
  return new BoundedPattern(pattern, flags);
}

function pathOf(pointer: string): (string | number)[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}
