/** Arguments to begin with, of a tool's JSON Schema: what is required, with a value of its kind. Pure. */

type Schema = Readonly<Record<string, unknown>>;

const DEEPEST = 6;

export function sampleOf(schema: Schema | null): unknown {
  return schema === null ? {} : valueFor(schema, 0);
}

function valueFor(schema: Schema, depth: number): unknown {
  if ('default' in schema) return schema['default'];
  if ('const' in schema) return schema['const'];
  const { enum: choices, examples } = schema;
  if (Array.isArray(choices) && choices.length > 0) return choices[0];
  if (Array.isArray(examples) && examples.length > 0) return examples[0];
  const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type'];
  if (type === 'string') return '';
  if (type === 'number' || type === 'integer') return typeof schema['minimum'] === 'number' ? schema['minimum'] : 0;
  if (type === 'boolean') return false;
  if (type === 'array') return [];
  if (type === 'null' || depth > DEEPEST) return null;
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, Schema>>;
  const required = Array.isArray(schema['required']) ? (schema['required'] as string[]) : [];
  const names = Object.keys(properties).filter((name) => required.includes(name) || required.length === 0);
  return Object.fromEntries(names.map((name) => [name, valueFor(properties[name]!, depth + 1)]));
}
