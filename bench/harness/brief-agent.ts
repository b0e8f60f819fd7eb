/** An agent that says hello, a sentence in the cheapest voice, and hangs up: for runs in which nobody listens to it. */
import type { ScriptedAgent } from '../../media/contract/agent-definition.ts';

export function briefAgent(says = 'Goodbye.'): ScriptedAgent {
  return {
    kind: 'scripted',
    name: 'Brief',
    direction: 'outbound',
    language: 'en-US',
    voice: 'kal16',
    script: 'Say one thing.',
    greeting: 'Hello.',
    steps: [{ id: 'bye', say: says, end: { reason: 'agent_hangup' } }],
    fallback: { say: ['Sorry?'], after: 2, goto: 'bye' },
    idle: { promptAfterMs: 8000, say: ['Hello?'], endAfterMs: 20_000 },
  };
}
