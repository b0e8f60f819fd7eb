/** Schemas come from whoever writes an agent, texts from whoever calls: neither may keep the process busy. */
import { describe, expect, it, test } from 'vitest';
import { checkArguments, schemaFaults } from '../../../src/tools/argument-check.ts';

const withPattern = (pattern: string): Record<string, unknown> => ({
  type: 'object',
  properties: { order: { type: 'string', pattern } },
});

describe('a pattern', () => {
  test.each([
    ['repeats a group', '^(a+)+$'],
    ['may leave out 60 letters', `^${'a?'.repeat(60)}${'a'.repeat(60)}$`],
    ['has 25 repeats with ends', `^${'a{0,59}'.repeat(25)}$`],
    ['has 30 groups of two ways', `^${'(a|a)'.repeat(30)}$`],
    ['repeats twice without end and begins anywhere', 'a*a*b'],
    ['repeats three times without end', '^a*a*a*b'],
    ['looks ahead', '^(?=a)a'],
    ['refers back', '^(a)\\1'],
  ])('is refused when it %s', (_what, pattern) => {
    expect(schemaFaults(withPattern(pattern))).toMatchObject([{ at: ['properties', 'order', 'pattern'] }]);
  });

  test.each([
    '^\\d{3}-\\d{4}$',
    '^[A-Z]{2,4}\\d{1,6}$',
    '^\\S+@\\S+$',
    '\\d+',
    '^(?:red|green|blue)$',
    '^[0-9a-f]{8}-?[0-9a-f]{4}$',
    '^\\p{L}+ ?\\p{L}*$',
  ])('like %s is taken', (pattern) => {
    expect(schemaFaults(withPattern(pattern))).toEqual([]);
  });

  it.each([
    [
      'of a property that is called like a keyword',
      { properties: { properties: { type: 'string', pattern: '(a+)+$' } } },
    ],
    [
      'of a schema that depends on a property called default',
      { dependentSchemas: { default: { propertyNames: { pattern: '(a+)+$' } } } },
    ],
    ['inside a list', { allOf: [{ properties: { order: { pattern: '(a+)+$' } } }] }],
  ])('is looked at %s', (_where, schema) => {
    expect(schemaFaults({ type: 'object', ...schema })).toHaveLength(1);
  });

  it('is no word where a property or a value is called so', () => {
    const schema = {
      type: 'object',
      properties: { pattern: { type: 'string', enum: ['(a+)+$'] }, $ref: { type: 'string' } },
    };
    expect(schemaFaults(schema)).toEqual([]);
  });

  it('counts with the others of its schema', () => {
    const one = { type: 'string', pattern: '^a*a*b' };
    const schema = { type: 'object', properties: Object.fromEntries([...Array(20).keys()].map((n) => [`a${n}`, one])) };
    expect(schemaFaults(schema)).toMatchObject([{ at: [] }]);
  });

  it('fits no text of more than 500 characters', () => {
    expect(checkArguments(withPattern('^a+$'), { order: 'a'.repeat(500) })).toMatchObject({ ok: true });
    expect(checkArguments(withPattern('^a+$'), { order: 'a'.repeat(501) })).toMatchObject({ ok: false });
    // Two patterns of one schema are not taken for each other.
    const two = { type: 'object', properties: { a: { pattern: '^a$' }, b: { pattern: '^b$' } } };
    expect(checkArguments(two, { a: 'a', b: 'b' })).toMatchObject({ ok: true });
    expect(checkArguments(two, { a: 'a', b: 'a' })).toMatchObject({ ok: false });
  });
});

it.each([
  ['of another draft', 'http://json-schema.org/draft-07/schema#'],
  ['that is no text', 5],
])('a $schema %s is a fault of the schema and not of ours', (_what, $schema) => {
  expect(schemaFaults({ type: 'object', $schema })).toMatchObject([{ at: ['$schema'] }]);
  expect(schemaFaults({ type: 'object', $schema: 'https://json-schema.org/draft/2020-12/schema' })).toEqual([]);
});
