/**
 * A scripted agent that uses what the script can do: branches, digits, names, lists, a tool, an end. Tests change
 * copies of it.
 */
import type { ScriptedAgent } from '../../media/contract/agent-definition.ts';

export function sampleAgent(change: Partial<ScriptedAgent> = {}): ScriptedAgent {
  return {
    kind: 'scripted',
    name: 'Dental reminder',
    direction: 'outbound',
    language: 'en-US',
    voice: 'kal16',
    script: 'Remind {{customer_name}} of the appointment.',
    greeting: 'Hello {{customer_name}}, this is the dental office.',
    steps: [
      {
        id: 'ask',
        say: 'Can you come on tuesday at three?',
        expect: 'yesno',
        replies: [
          { intent: 'accept', phrases: ['yes', 'yes please'], goto: 'order' },
          { intent: 'decline', phrases: ['no', 'no thank you'], goto: 'bye' },
          { intent: 'repeat', phrases: ['say that again'] },
        ],
      },
      {
        id: 'order',
        say: ['What is your order number?', 'Your order number again, please?'],
        expect: 'digits',
        replies: [
          {
            intent: 'order',
            phrases: ['<digits>', 'it is <digits>'],
            set: { order: '$digits', said: '$heard' },
            goto: 'name',
          },
        ],
      },
      {
        id: 'name',
        say: 'And your name?',
        replies: [
          { intent: 'name', phrases: ['my name is <name>'], set: { who: '$name', kind: 'known' }, goto: 'thanks' },
        ],
      },
      { id: 'thanks', say: 'Thank you {{who}}, order {{order}} it is.', expect: 'none', goto: 'bye' },
      { id: 'bye', say: 'Goodbye.', end: { reason: 'agent_hangup', disposition: 'done' } },
    ],
    fallback: { say: ['Sorry, I did not get that.', 'Could you say that again?'], after: 3, goto: 'bye' },
    idle: { promptAfterMs: 8_000, say: ['Are you still there?', 'Hello?'], endAfterMs: 30_000 },
    ...change,
  };
}
