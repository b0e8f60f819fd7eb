/**
 * What is wrong with a field, as one sentence (`details[].issue`, contract §12): `'limit' must be at most 200.` Schemas
 * and functions give the part after the field's name or a sentence of their own; zod's default words become ours here.
 * Pure; called by `envelope.ts`.
 */

/** Begins with what is said of the field, so the field's name stands before it. */
const PREDICATE =
  /^(?:is|are|was|must|may|can|cannot|has|have|had|holds?|needs?|lacks?|does|do|names?|leads?|lies|stands|takes?|belongs?|gives?|wants?|uses?|says|ends?|begins?|goes|comes|contains?|exceeds?|repeats?|appears?|never)\b/;
const ENDS = /[.!?…]$/;

export function sentenceOf(field: string, issue: string): string {
  const words = issue.trim();
  const subject = field === '' ? 'The request' : `'${field}'`;
  const whole = PREDICATE.test(words) ? `${subject} ${words}` : words.charAt(0).toUpperCase() + words.slice(1);
  return ENDS.test(whole) ? whole : `${whole}.`;
}

/** One of `error.validation`, as `fastify-type-provider-zod` makes them. */
interface Validation {
  keyword: string;
  message?: string;
  params: Record<string, unknown>;
}

/** Zod's own texts, all of which begin so; anything else is a schema's. */
const DEFAULT_TEXT = /^(?:Invalid|Too big|Too small|Unrecognized)\b/;

export function textOfIssue({ keyword, message = '', params }: Validation): string {
  if (!DEFAULT_TEXT.test(message)) return message === '' ? 'is not right' : message;
  switch (keyword) {
    case 'invalid_type':
      if (message.endsWith('received undefined')) return 'is required';
      return `must be ${TYPES[String(params['expected'])] ?? `of type ${String(params['expected'])}`}`;
    case 'invalid_value':
      return `must be ${oneOf(params['values'] as readonly unknown[])}`;
    case 'too_big':
      return `${sizeOf(params['origin'])} at most ${String(params['maximum'])}${unitOf(params['origin'])}`;
    case 'too_small':
      return `${sizeOf(params['origin'])} at least ${String(params['minimum'])}${unitOf(params['origin'])}`;
    case 'invalid_format':
      return FORMATS[String(params['format'])] ?? 'is not of the form that it must have';
    case 'unrecognized_keys':
      return `holds what is unknown here: ${(params['keys'] as readonly string[]).join(', ')}`;
    case 'invalid_union':
      return 'has none of the forms that it may have';
    case 'invalid_key':
      return 'is a name that is not allowed here';
    default:
      return 'has a value that is not allowed';
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

const FORMATS: Readonly<Record<string, string>> = {
  guid: 'must be a UUID',
  uuid: 'must be a UUID',
  datetime: 'must be a time like 2026-11-21T00:00:00Z',
  url: 'must be an address like https://example.com/',
};

const oneOf = (values: readonly unknown[]): string =>
  values.length === 1 ? String(values[0]) : `one of ${values.map(String).join(', ')}`;

const sizeOf = (origin: unknown): string => (origin === 'number' || origin === 'int' ? 'must be' : 'must have');

function unitOf(origin: unknown): string {
  if (origin === 'string') return ' characters';
  if (origin === 'number' || origin === 'int') return '';
  return ' entries';
}
