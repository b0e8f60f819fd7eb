/** A scripted agent that looks an order up by a tool. Tests change copies of it. */
import type { ScriptedAgent } from '../../media/contract/agent-definition.ts';
import type { ToolDefinition } from '../../media/contract/tools.ts';

export function orderTool(change: Partial<ToolDefinition> = {}): ToolDefinition {
  return {
    name: 'lookup_order',
    description: 'Where an order is.',
    url: 'https://shop.example.com/tools/order',
    headers: { authorization: 'Bearer {{secret.SHOP_KEY}}' },
    parameters: {
      type: 'object',
      properties: { order: { type: 'string', pattern: '^[0-9]{1,9}$' } },
      required: ['order'],
      additionalProperties: false,
    },
    responseVariables: { day: '$.order.day' },
    ...change,
  };
}

/** Its greeting is that of `sampleAgent`, which `FakeCall` renders ahead. */
export function orderAgent(
  change: Partial<ScriptedAgent> = {},
  tool: Partial<ToolDefinition> = {},
  use: Partial<NonNullable<ScriptedAgent['steps'][number]['tool']>> = {},
): ScriptedAgent {
  return {
    kind: 'scripted',
    name: 'Order desk',
    direction: 'any',
    language: 'en-US',
    voice: 'kal16',
    script: 'Tell callers where their order is.',
    greeting: 'Hello {{customer_name}}, this is the dental office.',
    steps: [
      {
        id: 'number',
        say: 'What is your order number?',
        expect: 'digits',
        replies: [{ intent: 'number', phrases: ['<digits>'], set: { order: '$digits' }, goto: 'lookup' }],
      },
      {
        id: 'lookup',
        tool: {
          name: 'lookup_order',
          arguments: { order: '{{order}}' },
          saying: 'Let me see.',
          goto: 'tell',
          onError: 'sorry',
          ...use,
        },
      },
      {
        id: 'tell',
        say: 'Order {{order}} arrives on {{day}}. Anything else?',
        expect: 'yesno',
        replies: [
          { intent: 'nothing', phrases: ['no', 'no thank you'], goto: 'bye' },
          { intent: 'more', phrases: ['yes'], goto: 'number' },
        ],
      },
      { id: 'sorry', say: 'I can not see your order right now.', expect: 'none', goto: 'bye' },
      { id: 'bye', say: 'Goodbye.', end: { reason: 'agent_hangup' } },
    ],
    fallback: { say: ['Sorry, I did not get that.'], after: 3, goto: 'bye' },
    idle: { promptAfterMs: 8_000, say: ['Are you still there?'], endAfterMs: 30_000 },
    tools: [orderTool(tool)],
    ...change,
  };
}
