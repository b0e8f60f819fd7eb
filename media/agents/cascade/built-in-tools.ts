/** What every conversing agent can do beside its own tools, as a model is told of them. Pure. */
import { BUILT_IN_TOOLS, type BuiltInTool, type CascadeAgent } from '../../contract/agent-definition.ts';
import type { ModelTool } from '../../contract/model.ts';
import { DEFAULT_BUILT_INS } from './prompt.ts';

const MOST_DIGITS = 32;
const DIGITS = /^[0-9*#A-D]+$/;
/** A tool without `parameters` takes any object. */
const ANYTHING = { type: 'object' };

export function isBuiltIn(name: string): name is BuiltInTool {
  return (BUILT_IN_TOOLS as readonly string[]).includes(name);
}

/** In the same order in every request: providers keep what they have read. */
export function modelToolsOf(definition: CascadeAgent): ModelTool[] {
  const { tools = [], builtInTools = DEFAULT_BUILT_INS } = definition;
  const own = tools.map(({ name, description = '', parameters = ANYTHING }) => ({ name, description, parameters }));
  return [
    ...own,
    ...BUILT_IN_TOOLS.filter((name) => builtInTools.includes(name)).map((name) => built(name, definition)),
  ];
}

function built(name: BuiltInTool, { end }: CascadeAgent): ModelTool {
  switch (name) {
    case 'end_call':
      return {
        name,
        description: 'Ends the call once your goodbye has been heard. Say goodbye in the same answer.',
        parameters: closed({
          farewell: { type: 'string', description: 'The goodbye, if you say none otherwise.' },
          ...(end?.dispositions === undefined ? {} : { disposition: { type: 'string', enum: end.dispositions } }),
        }),
      };
    case 'send_digits':
      return {
        name,
        description: 'Presses keys of the telephone, for menus that ask for them.',
        parameters: closed({ digits: { type: 'string', pattern: DIGITS.source, maxLength: MOST_DIGITS } }, ['digits']),
      };
    case 'mark_do_not_call':
      return {
        name,
        description: 'The caller does not want to be called again: their number is never dialled again.',
        parameters: closed({}),
      };
  }
}

/** Null: these are no keys. */
export function digitsOf(value: unknown): string | null {
  const digits = String(value ?? '')
    .toUpperCase()
    .replace(/[\s-]/g, '');
  return DIGITS.test(digits) && digits.length <= MOST_DIGITS ? digits : null;
}

function closed(properties: Record<string, unknown>, required: string[] = []): ModelTool['parameters'] {
  return { type: 'object', properties, required, additionalProperties: false };
}
