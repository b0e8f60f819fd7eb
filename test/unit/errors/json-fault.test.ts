/** A file that is no JSON is told by line and column, whatever V8 says of it. */
import { expect, it } from 'vitest';
import { jsonFault } from '../../../src/errors/json-fault.ts';

const faultOf = (text: string): string => {
  try {
    JSON.parse(text);
  } catch (error) {
    return jsonFault(text, error);
  }
  throw new Error('it is JSON');
};

it.each([
  ['a comma too many', '{\n  "a": 1,\n}', /^line 3, column 1: Expected double-quoted property name$/],
  ['a word', '{\n  "a": [1,\n    yes]\n}', /^line 3, column 5: Unexpected token 'y'$/],
  ['a comma that is missing', '{\n  "a": 1\n  "b": 2\n}', /^line 3, column 3: Expected ',' or '}'/],
  ['an end too early', '{\n  "a": 1,\n', /^line 3, column 1: /],
  ['nothing', '', /^line 1, column 1: Unexpected end of JSON input$/],
  ['something behind', '{}\n{}', /^line 2, column 1: Unexpected non-whitespace character after JSON$/],
  ['a line within a text', '{\n "a": "one\ntwo"}', /^line 2, column 11: Bad control character in string literal$/],
  ['a literal that is cut', '[true, tru', /^line 1, column 11: Unexpected end of JSON input$/],
  ['a comment', '// mine\n{}', /^line 1, column 1: Unexpected token '\/'$/],
])('%s', (_what, text, said) => {
  expect(faultOf(text)).toMatch(said);
});
