import { describe, expect, it } from 'vitest';
import { checkAgent } from '../../../src/agents/check-agent.ts';
import { loadLexicon } from '../../../src/agents/lexicon.ts';
import { checkDataSchema, fitValue } from '../../../src/analysis/data-schema.ts';
import { DEMO_AGENT } from './sample-story.ts';

describe("an agent's data schema", () => {
  it.each([
    [{ type: 'object', properties: { a: { type: 'string' } } }, []],
    [{ type: 'string' }, ['type']],
    ['x', ['']],
    [{ type: 'object', properties: {} }, ['properties']],
    [{ type: 'object', properties: { a: { type: 'text' } } }, ['properties.a.type']],
    [{ type: 'object', properties: { a: { type: 'string', pattern: '(a+)+$' } } }, ['properties.a.pattern']],
    [{ type: 'object', properties: { a: { $ref: '#' } } }, ['properties.a.$ref', 'properties.a.type']],
    [{ type: 'object', properties: JSON.parse('{"__proto__":{"type":"string"}}') }, ['properties.__proto__']],
    [{ type: 'object', properties: { a: { type: 'array' } } }, ['properties.a.items']],
    [{ type: 'object', properties: { a: { type: 'integer', enum: ['1'] } } }, ['properties.a.enum']],
    [{ type: 'object', properties: { a: { type: 'string' } }, required: ['b'] }, ['required']],
    [{ type: 'object', properties: { a: { type: 'string' } }, additionalProperties: true }, ['additionalProperties']],
  ])('%j has faults at %j', (schema, paths) => {
    expect(checkDataSchema(schema).map((fault) => fault.path)).toEqual(paths);
  });

  it('may be four levels deep and not five', () => {
    const nested = (levels: number): object =>
      levels === 0 ? { type: 'string' } : { type: 'object', properties: { a: nested(levels - 1) } };
    expect(checkDataSchema(nested(3))).toEqual([]);
    expect(checkDataSchema(nested(4))).toHaveLength(1);
  });

  it('is checked when the agent is imported, with the path of each fault', () => {
    const agent = { ...DEMO_AGENT, analysis: { data: { type: 'object', properties: { day: { type: 'date' } } } } };
    const check = checkAgent(agent, loadLexicon());
    expect(check.ok ? [] : check.faults.map((fault) => fault.path)).toEqual(['analysis.data.properties.day.type']);
  });
});

it.each([
  [{ type: 'integer' }, '42', 42],
  [{ type: 'integer' }, '4.2', undefined],
  [{ type: 'number' }, ' -4.5 ', -4.5],
  [{ type: 'number' }, Number.NaN, undefined],
  [{ type: 'boolean' }, 'yes', true],
  [{ type: 'boolean' }, 'maybe', undefined],
  [{ type: 'string' }, 12, '12'],
  [{ type: 'string' }, ' \n ', undefined],
  [{ type: 'string', enum: ['Red'] }, 'red', 'Red'],
  [{ type: 'string', enum: ['Red'] }, 'blue', undefined],
  [{ type: 'array', items: { type: 'integer' } }, [1, 'x', '3'], [1, 3]],
  [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, { b: 1 }, undefined],
])('%j takes %j as %j', (schema, value, fitted) => {
  expect(fitValue(schema, value)).toEqual(fitted);
});
