/**
 * What "structured outputs" demand of a schema, and a value that fits one: the emulator refuses what the real service
 * refuses, and answers with something of the right form. Pure.
 */

type Schema = Record<string, unknown>;

/** Null when it is a strict schema; else the sentence of the service. */
export function strictFault(schema: unknown, path: readonly string[] = []): string | null {
  const where = `In context=(${path.map((part) => `'${part}'`).join(', ')})`;
  if (typeof schema !== 'object' || schema === null) return `${where}, a schema must be an object.`;
  const { type, properties, required, additionalProperties, items, enum: values } = schema as Schema;
  const types = [type].flat();
  if (type === undefined && values === undefined) return `${where}, schema must have a 'type' key.`;
  if (types.includes('array'))
    return items === undefined ? `${where}, array schema missing items.` : strictFault(items, [...path, 'items']);
  if (!types.includes('object')) return null;
  if (additionalProperties !== false)
    return `${where}, 'additionalProperties' is required to be supplied and to be false.`;
  const names = Object.keys((properties ?? {}) as Schema);
  const listed = Array.isArray(required) ? required : [];
  const missing = names.find((name) => !listed.includes(name));
  if (missing !== undefined) {
    return `${where}, 'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`;
  }
  for (const name of names) {
    const fault = strictFault((properties as Schema)[name], [...path, 'properties', name]);
    if (fault !== null) return fault;
  }
  return null;
}

/** `known` gives values by property name where they fit. */
export function valueFor(schema: unknown, known: Readonly<Record<string, unknown>> = {}): unknown {
  const { type, properties, enum: values } = schema as Schema;
  const types = [type].flat();
  if (Array.isArray(values)) return values[0];
  if (types.includes('null')) return null;
  switch (types[0]) {
    case 'object':
      return Object.fromEntries(
        Object.entries((properties ?? {}) as Schema).map(([name, one]) => [name, known[name] ?? valueFor(one)]),
      );
    case 'array':
      return [];
    case 'number':
    case 'integer':
      return 0;
    case 'boolean':
      return false;
    default:
      return '';
  }
}
