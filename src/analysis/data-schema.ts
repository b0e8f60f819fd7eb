/**
 * The JSON Schema of an agent's `analysis.data`: which part of JSON Schema may be used, does a value fit, and the
 * strict form that chat endpoints want. Pure. The keywords are few on purpose: each is one that models' structured
 * output knows, and none (`pattern`, `$ref`) can make a stranger's schema expensive. Checked when an agent is imported;
 * an unknown keyword is a fault.
 */
import { BOUNDS, plainLine } from '../calls/findings.ts';

export interface SchemaFault {
  /** From the schema's root: `properties.day.enum`. */
  path: string;
  problem: string;
}

type JsonType = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object';

interface Schema {
  type: JsonType;
  description?: string;
  enum?: readonly (string | number)[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: readonly string[];
  additionalProperties?: false;
}

const TYPES: readonly string[] = ['string', 'number', 'integer', 'boolean', 'array', 'object'];
const KEYWORDS: readonly string[] = [
  'type',
  'description',
  'enum',
  'items',
  'properties',
  'required',
  'additionalProperties',
];
const NAME = /^(?!__proto__$)[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;
const MOST_PROPERTIES = 50;
const MOST_LEVELS = 4;
const MOST_VALUES = 100;
const MOST_ITEMS = 50;
const LONGEST_DESCRIPTION = 500;
const LONGEST_STRING = 2_000;

/** Empty when it is an object schema that this file understands. */
export function checkDataSchema(given: unknown): SchemaFault[] {
  const faults: SchemaFault[] = [];
  check(given, '', 1, faults);
  if (faults.length === 0 && (given as Schema).type !== 'object') {
    faults.push({ path: 'type', problem: 'must be "object": `data` is one' });
  }
  return faults;
}

function check(given: unknown, path: string, level: number, faults: SchemaFault[]): void {
  const fault = (name: string, problem: string): void => {
    faults.push({ path: [path, name].filter((part) => part !== '').join('.'), problem });
  };
  if (!isRecord(given)) {
    fault('', 'must be a schema like {"type": "string"}');
    return;
  }
  if (level > MOST_LEVELS) {
    fault('', `lies more than ${MOST_LEVELS} levels deep`);
    return;
  }
  for (const keyword of Object.keys(given)) {
    if (!KEYWORDS.includes(keyword)) fault(keyword, `is not supported; there are: ${KEYWORDS.join(', ')}`);
  }
  const { type, description, enum: values, items, properties, required, additionalProperties } = given;
  if (typeof type !== 'string' || !TYPES.includes(type)) {
    fault('type', `must be one of ${TYPES.join(', ')}`);
    return;
  }
  if (description !== undefined && (typeof description !== 'string' || description.length > LONGEST_DESCRIPTION)) {
    fault('description', `must be a text of at most ${LONGEST_DESCRIPTION} characters`);
  }
  if (additionalProperties !== undefined && additionalProperties !== false) {
    fault('additionalProperties', 'must be false: what the schema does not name is not kept');
  }
  if (values !== undefined) checkEnum(values, type, fault);
  if ((items !== undefined) !== (type === 'array')) fault('items', 'belongs to "array", and "array" needs it');
  else if (items !== undefined) check(items, [path, 'items'].filter(Boolean).join('.'), level + 1, faults);
  if ((properties !== undefined) !== (type === 'object')) {
    fault('properties', 'belongs to "object", and "object" needs it');
    return;
  }
  if (type !== 'object') return;
  if (!isRecord(properties) || Object.keys(properties).length === 0) {
    fault('properties', 'must name at least one');
    return;
  }
  if (Object.keys(properties).length > MOST_PROPERTIES) fault('properties', `must name at most ${MOST_PROPERTIES}`);
  for (const [name, schema] of Object.entries(properties)) {
    if (!NAME.test(name))
      fault(`properties.${name}`, 'must be named like a variable: letters, digits, _ . -, 64 at most');
    else check(schema, [path, 'properties', name].filter(Boolean).join('.'), level + 1, faults);
  }
  const isList =
    required === undefined || (Array.isArray(required) && required.every((name) => typeof name === 'string'));
  if (!isList) fault('required', 'must be a list of names');
  for (const name of isList ? ((required ?? []) as string[]) : []) {
    if (!Object.hasOwn(properties, name)) fault('required', `names '${name}', which is no property`);
  }
}

function checkEnum(values: unknown, type: string, fault: (name: string, problem: string) => void): void {
  const expected = type === 'string' ? 'string' : 'number';
  const isFit =
    Array.isArray(values) &&
    values.length > 0 &&
    values.length <= MOST_VALUES &&
    values.every((value) => typeof value === expected);
  if (!['string', 'number', 'integer'].includes(type)) fault('enum', 'belongs to "string", "number" or "integer"');
  else if (!isFit) fault('enum', `must hold 1 to ${MOST_VALUES} values of the type`);
}

/**
 * What of a value fits; undefined when nothing does. Text of a number or of yes and no becomes
 * one, because scripts catch text.
 */
export function fitValue(schema: unknown, value: unknown): unknown {
  const { type, enum: values, items, properties, required } = schema as Schema;
  switch (type) {
    case 'string': {
      const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
      if (typeof text !== 'string') return undefined;
      const line = plainLine(text, LONGEST_STRING);
      if (values === undefined) return line === '' ? undefined : line;
      return values.find((one) => String(one).toLowerCase() === line.toLowerCase());
    }
    case 'number':
    case 'integer': {
      const isText = typeof value === 'string' && /^\s*-?\d+(\.\d+)?\s*$/.test(value);
      const number = isText ? Number(value) : value;
      if (typeof number !== 'number' || !Number.isFinite(number)) return undefined;
      if (type === 'integer' && !Number.isSafeInteger(number)) return undefined;
      return values === undefined || values.includes(number) ? number : undefined;
    }
    case 'boolean':
      if (typeof value === 'boolean') return value;
      if (value === 'true' || value === 'yes') return true;
      return value === 'false' || value === 'no' ? false : undefined;
    case 'array': {
      if (!Array.isArray(value)) return undefined;
      return value
        .slice(0, MOST_ITEMS)
        .map((item) => fitValue(items, item))
        .filter((item) => item !== undefined);
    }
    case 'object': {
      if (!isRecord(value)) return undefined;
      const fitted = fitProperties(schema, value).data;
      return (required ?? []).every((name) => Object.hasOwn(fitted, name)) && properties !== undefined
        ? fitted
        : undefined;
    }
  }
}

/** The schema's own properties of `given`, as far as they fit; `dropped` names those that were there and did not. */
export function fitProperties(
  schema: unknown,
  given: Readonly<Record<string, unknown>>,
): { data: Record<string, unknown>; dropped: string[] } {
  const { properties = {} } = schema as Schema;
  const data: Record<string, unknown> = {};
  const dropped: string[] = [];
  for (const [name, property] of Object.entries(properties)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined || value === null) continue;
    const fitted = fitValue(property, value);
    if (fitted === undefined) dropped.push(name);
    else data[name] = fitted;
  }
  return { data, dropped };
}

/** What the caller may have said of a property: the values of its `enum`, as text. */
export function choicesOf(schema: unknown): { name: string; choices: readonly string[] }[] {
  const { properties = {} } = schema as Schema;
  return Object.entries(properties).flatMap(([name, property]) =>
    property.type === 'string' && property.enum !== undefined ? [{ name, choices: property.enum.map(String) }] : [],
  );
}

/**
 * As "structured outputs" want it: every property required, null where the agent's schema does
 * not require it, nothing else allowed.
 */
export function strictSchema(schema: unknown): Record<string, unknown> {
  return strict(schema as Schema, true);
}

function strict(schema: Schema, isRequired: boolean): Record<string, unknown> {
  const { type, description, enum: values, items, properties, required = [] } = schema;
  return {
    type: isRequired ? type : [type, 'null'],
    ...(description === undefined ? {} : { description }),
    ...(values === undefined ? {} : { enum: isRequired ? values : [...values, null] }),
    ...(items === undefined ? {} : { items: strict(items, true) }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, one]) => [name, strict(one, required.includes(name))]),
          ),
          required: Object.keys(properties),
          additionalProperties: false,
        }),
  };
}

/** Within the bounds of `data` as a whole: later keys go first. */
export function boundedData(data: Readonly<Record<string, unknown>>): {
  data: Record<string, unknown>;
  dropped: string[];
} {
  const kept: Record<string, unknown> = {};
  const dropped: string[] = [];
  let bytes = 2;
  for (const [name, value] of Object.entries(data)) {
    const size = Buffer.byteLength(JSON.stringify({ [name]: value }));
    if (Object.keys(kept).length >= BOUNDS.dataKeys || bytes + size > BOUNDS.dataBytes) dropped.push(name);
    else {
      kept[name] = value;
      bytes += size;
    }
  }
  return { data: kept, dropped };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
