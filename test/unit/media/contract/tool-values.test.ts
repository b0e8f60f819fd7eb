import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJsonPath, readJsonPath } from '../../../../media/contract/json-path.ts';
import { toolValues } from '../../../../media/contract/tool-values.ts';
import { toolFailed } from '../../../../media/contract/tools.ts';

describe('a path', () => {
  const value = { order: { lines: [{ title: 'Pizza' }], 'delivery date': 'Thursday', __proto__x: 1 }, result: 0 };
  test.each([
    ['$', value],
    ['$.order.lines[0].title', 'Pizza'],
    ['order.lines[0].title', 'Pizza'],
    [`$['order']["delivery date"]`, 'Thursday'],
    ['$.result', 0],
    ['$.order.lines[1].title', undefined],
    ['$.order.lines.length.x', undefined],
    ['$.constructor', undefined],
    ['$.order.__proto__', undefined],
  ])('%s', (text, expected) => {
    const path = parseJsonPath(text);
    expect(path).not.toBeNull();
    expect(readJsonPath(value, path!)).toEqual(expected);
  });

  test.each(['', '.', '$.', '$..a', '$.a[*]', '$.a[?(@.b)]', 'a b', '$[0', `$['a`, '$.a[-1]', `${'a.'.repeat(40)}a`])(
    '%s is none',
    (text) => {
      expect(parseJsonPath(text)).toBeNull();
    },
  );

  test('1,000 random texts and values: never a throw', () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), (text, json) => {
        const path = parseJsonPath(text);
        if (path !== null) readJsonPath(json, path);
      }),
      { numRuns: 1_000, seed: 20261121 },
    );
  });
});

describe('the variables of a result', () => {
  const definition = { name: 'find', responseVariables: { day: '$.day', all: '$.lines' } };

  test('are its `result`, that one’s simple fields, its status, and the paths', () => {
    const result = { result: { state: 'sent', weightKg: 2, lines: [] }, day: 'Thursday', lines: ['a', 1] };
    expect(toolValues(definition, { ok: true, status: 200, result })).toEqual({
      'tool.find.result': '{"state":"sent","weightKg":2,"lines":[]}',
      'tool.find.result.state': 'sent',
      'tool.find.result.weightKg': '2',
      'tool.find.status': '200',
      'tool.find.error': null,
      day: 'Thursday',
      all: '["a",1]',
    });
  });

  test('are cut at 2,000 characters, and never in the middle of one', () => {
    const result = `${'x'.repeat(1_999)}\u{1f600}`;
    const { 'tool.find.result': cut } = toolValues({ name: 'find' }, { ok: true, status: 200, result });
    expect(cut).toBe('x'.repeat(1_999));
  });

  test('of a failure are its code, and nothing of before', () => {
    expect(toolValues(definition, toolFailed('http_error', 'It answered 500.', 500))).toEqual({
      'tool.find.result': null,
      'tool.find.status': '500',
      'tool.find.error': 'http_error',
      day: null,
      all: null,
    });
  });

  test('are at most 2,000 characters, and what no database stores is left out', () => {
    const { 'tool.find.result': text } = toolValues(definition, {
      ok: true,
      status: 200,
      result: `a\u0000b\ud800c😀${'x'.repeat(5_000)}`,
    });
    expect(text).toHaveLength(2_000);
    expect(text!.startsWith('abc😀x')).toBe(true);
  });
});
