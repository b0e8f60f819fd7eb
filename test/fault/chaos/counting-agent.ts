/**
 * An agent that talks for some 10 s and listens to nothing, in the cheapest voice, a step a sentence: each has a
 * checkpoint behind it, so what a call that was moved goes on from can be seen in its transcript.
 */
import type { ScriptedAgent } from '../../../media/contract/agent-definition.ts';

const SENTENCES = [
  'This is the first part, and it takes a while to say.',
  'Here comes the second part, which is as long as the first.',
  'And now comes the last part, after which I am done.',
];

/** What every whole transcript holds, in this order. */
export const COUNTED = ['Hello there.', ...SENTENCES, 'Goodbye.'];

export const countingAgent: ScriptedAgent = {
  kind: 'scripted',
  name: 'Counts',
  direction: 'outbound',
  language: 'en-US',
  voice: 'kal16',
  script: 'Say three things.',
  greeting: COUNTED[0]!,
  steps: [
    ...SENTENCES.map((say, at) => ({ id: `part${at + 1}`, say, expect: 'none' as const, goto: stepAfter(at) })),
    { id: 'bye', say: COUNTED.at(-1)!, end: { reason: 'agent_hangup' } },
  ],
  fallback: { say: ['Sorry?'], after: 2, goto: 'bye' },
  idle: { promptAfterMs: 8000, say: ['Hello?'], endAfterMs: 20_000 },
};

function stepAfter(at: number): string {
  return at + 1 < SENTENCES.length ? `part${at + 2}` : 'bye';
}
