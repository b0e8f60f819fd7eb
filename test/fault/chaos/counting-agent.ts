/**
 * An agent that talks for some 10 s and listens to nothing, in the cheapest voice, a step a sentence: each has a
 * checkpoint behind it, so what a call that was moved goes on from can be seen in its transcript.
 */
import type { ScriptedAgent } from '../../../media/contract/agent-definition.ts';

const FIRST = 'This is the first part, and it takes a while to say.';
const SECOND = 'Here comes the second part, which is as long as the first.';
const LAST = 'And now comes the last part, after which I am done.';

/** What every whole transcript holds, in this order. */
export const COUNTED = said([FIRST, SECOND, LAST]);
/** Of one who talks for twice as long. */
export const COUNTED_LONG = said([
  FIRST,
  SECOND,
  'The third part is no shorter than the two before it.',
  'With the fourth part there is still a good deal to come.',
  'The fifth part is told as slowly as all of the others.',
  LAST,
]);

export const countingAgent = agentThatSays(COUNTED);
export const longCountingAgent = agentThatSays(COUNTED_LONG);

function said(parts: readonly string[]): readonly string[] {
  return ['Hello there.', ...parts, 'Goodbye.'];
}

function agentThatSays(sentences: readonly string[]): ScriptedAgent {
  const parts = sentences.slice(1, -1);
  const stepAfter = (at: number): string => (at + 1 < parts.length ? `part${at + 2}` : 'bye');
  return {
    kind: 'scripted',
    name: 'Counts',
    direction: 'outbound',
    language: 'en-US',
    voice: 'kal16',
    script: `Say ${parts.length} things.`,
    greeting: sentences[0]!,
    steps: [
      ...parts.map((say, at) => ({ id: `part${at + 1}`, say, expect: 'none' as const, goto: stepAfter(at) })),
      { id: 'bye', say: sentences.at(-1)!, end: { reason: 'agent_hangup' } },
    ],
    fallback: { say: ['Sorry?'], after: 2, goto: 'bye' },
    idle: { promptAfterMs: 8000, say: ['Hello?'], endAfterMs: 20_000 },
  };
}
