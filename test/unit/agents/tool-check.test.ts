import { describe, expect, it, test } from 'vitest';
import type { ScriptedAgent } from '../../../media/contract/agent-definition.ts';
import type { ToolDefinition } from '../../../media/contract/tools.ts';
import { checkAgent } from '../../../src/agents/check-agent.ts';
import { loadLexicon } from '../../../src/agents/lexicon.ts';
import { faultLines } from '../../../src/errors/agent-faults.ts';
import { orderAgent, orderTool } from '../../support/order-agent.ts';

const lexicon = loadLexicon();
function faultsOf(agent: unknown): string[] {
  const check = checkAgent(agent, lexicon);
  return check.ok ? [] : faultLines(check.faults);
}
const withTool = (change: object): ScriptedAgent => orderAgent({}, change as Partial<ToolDefinition>);

it('takes an agent with a tool, with one of a page, and with a step that leaves `onError` out', () => {
  expect(faultsOf(orderAgent())).toEqual([]);
  expect(faultsOf(orderAgent({ tools: [{ kind: 'client', name: 'lookup_order', timeoutMs: 3_000 }] }))).toEqual([]);
  const agent = orderAgent();
  delete agent.steps[1]!.tool!.onError;
  expect(faultsOf({ ...agent, steps: agent.steps.filter(({ id }) => id !== 'sorry') })).toEqual([]);
});

describe('a fault of a tool is named by its path', () => {
  test.each<[object, string]>([
    [{ name: '2fast' }, 'tools[0].name: must be a letter or _'],
    [{ url: undefined }, 'tools[0].url: is missing'],
    [{ url: 'ftp://x' }, 'tools[0].url: must begin with https://'],
    [{ url: 'https://a:b@x.example' }, 'tools[0].url: must not hold a user name'],
    [{ url: 'https://x.example/{{order}}' }, 'tools[0].url: takes no placeholders'],
    [{ method: 'GET' }, 'tools[0].method: must be "POST"'],
    [{ headers: { 'x y': 'a' } }, 'tools[0].headers.x y: is no name of a header'],
    [{ headers: { Host: 'a' } }, 'tools[0].headers.Host: is set by the gateway'],
    [{ headers: { 'webhook-id': 'a' } }, 'tools[0].headers.webhook-id: is set by the gateway'],
    [{ headers: { 'x-a': '{{order}}' } }, "tools[0].headers.x-a: holds '{{order}}'; only {{secret.NAME}}"],
    [{ headers: { 'x-a': 'a\r\nb: c' } }, 'tools[0].headers.x-a: may hold printable ASCII'],
    [{ timeoutMs: 100 }, 'tools[0].timeoutMs: must be at least 500'],
    [{ speakAfterMs: 1_501 }, 'tools[0].speakAfterMs: must be at most 1500, so that nobody hears 2 s of nothing'],
    [{ retries: 2 }, 'tools[0].retries: must be 0, or 1 for what may happen twice'],
    [{ responseVariables: { day: '$..day' } }, "tools[0].responseVariables.day: '$..day' is no path"],
    [{ speakDuring: ['{{secret.KEY}}'] }, "tools[0].speakDuring[0]: '{{secret.KEY}}' would be spoken"],
    [{ colour: 'red' }, 'tools[0].colour: is no field of an agent'],
    [{ parameters: { type: 'array' } }, 'tools[0].parameters.type: must be "object"'],
    [
      { parameters: { type: 'object', properties: { order: { type: 'text' } } } },
      'tools[0].parameters.properties.order.type',
    ],
    [{ parameters: { type: 'object', wrong: 1 } }, 'tools[0].parameters: is no JSON Schema: unknown keyword'],
    [
      { parameters: { type: 'object', properties: { order: { $ref: 'https://x' } } } },
      'tools[0].parameters.properties.order.$ref: is not taken',
    ],
    [
      { parameters: { type: 'object', properties: { order: { pattern: '^(a+)+$' } } } },
      'tools[0].parameters.properties.order.pattern: may not repeat a group',
    ],
    [{ parameters: { type: 'object', properties: { order: { pattern: '^a*b*c*$' } } } }, 'more than twice'],
    [
      { parameters: { type: 'object', required: ['order', 'name'] } },
      "steps[1].tool.arguments: lack 'name', which the tool requires",
    ],
    [
      { parameters: { type: 'object', additionalProperties: false } },
      'steps[1].tool.arguments.order: is no parameter of the tool',
    ],
    [{ kind: 'client' }, 'tools[0].url: means nothing for a tool of a page'],
  ])('%j', (change, expected) => {
    const agent = withTool(change);
    if ('url' in change && change.url === undefined) delete agent.tools![0]!.url;
    expect(faultsOf(agent).join('\n')).toContain(expected);
  });

  it('of a step: an unknown tool, a secret in an argument, a target that is not there', () => {
    expect(faultsOf(orderAgent({ tools: [] }))).toContainEqual(
      "steps[1].tool.name: there is no tool 'lookup_order'; add it to 'tools'",
    );
    expect(faultsOf(orderAgent({}, {}, { name: 'find' }))).toContainEqual(
      "steps[1].tool.name: there is no tool 'find'; there are lookup_order",
    );
    expect(faultsOf(orderAgent({}, {}, { arguments: { order: '{{secret.PIN}}' } })).join()).toContain(
      'steps[1].tool.arguments.order: ',
    );
    expect(faultsOf(orderAgent({}, {}, { onError: 'nowhere' })).join()).toContain(
      "steps[1].tool.onError: there is no step 'nowhere'",
    );
    expect(faultsOf(orderAgent({ tools: [orderTool(), orderTool()] })).join()).toContain(
      "tools[1].name: 'lookup_order' is the name of another tool already",
    );
  });
});

test('patterns that are tame pass: a telephone number, a post code, a choice', () => {
  for (const pattern of [
    '^\\+[1-9]\\d{6,14}$',
    '^[A-Z]{1,2}[0-9]{1,2} [0-9][A-Z]{2}$',
    '^(red|green|blue)$',
    '^.+@.+$',
  ]) {
    const parameters = { type: 'object', properties: { order: { type: 'string', pattern } } };
    expect([pattern, faultsOf(withTool({ parameters }))]).toEqual([pattern, []]);
  }
});
