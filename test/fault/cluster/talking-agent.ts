/**
 * An agent that talks for some 40 s and listens to nothing, in the cheapest voice, a step a sentence: long enough that
 * a call is still in the middle of it when it has been taken from a machine that fell silent.
 */
import type { ScriptedAgent } from '../../../media/contract/agent-definition.ts';

const NUMBERS = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'];
const SENTENCES = NUMBERS.map((number) => `This is part number ${number}, and it takes a while to say.`);

/** What every whole transcript holds, in this order. */
export const SAID = ['Hello there.', ...SENTENCES, 'Goodbye.'];

export const talkingAgent: ScriptedAgent = {
  kind: 'scripted',
  name: 'Talks',
  direction: 'outbound',
  language: 'en-US',
  voice: 'kal16',
  script: 'Say twelve things.',
  greeting: SAID[0]!,
  steps: [
    ...SENTENCES.map((say, at) => ({
      id: `part${at + 1}`,
      say,
      expect: 'none' as const,
      goto: at + 1 < SENTENCES.length ? `part${at + 2}` : 'bye',
    })),
    { id: 'bye', say: SAID.at(-1)!, end: { reason: 'agent_hangup' } },
  ],
  fallback: { say: ['Sorry?'], after: 2, goto: 'bye' },
  idle: { promptAfterMs: 8000, say: ['Hello?'], endAfterMs: 20_000 },
};
