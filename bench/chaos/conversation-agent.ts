/**
 * The agent and the callees that fault runs are made of: a short conversation in the cheapest voice, whose questions can be asked twice, so
 * that a caller who lost the agent for a moment can answer again.
 */
import type { ScriptedAgent } from '../../media/contract/agent-definition.ts';
import type { PersonaInput } from '../carrier-emulator/persona.ts';

/** In the order in which a whole conversation has them. */
export const INTENTS = ['confirmed', 'early', 'nothing_else'] as const;
/** Not a part of the conversation: the caller did not catch the question and has it asked again. */
export const ASKED_AGAIN = 'asked_again';

const again = (goto: string) => ({ intent: ASKED_AGAIN, phrases: ['pardon'], goto });

export const conversationAgent: ScriptedAgent = {
  kind: 'scripted',
  name: 'Short talk',
  direction: 'outbound',
  language: 'en-US',
  voice: 'kal16',
  script: 'Ask three questions.',
  greeting: 'Hello, this is River Dental.',
  steps: [
    {
      id: 'ask',
      say: 'Can you still come at three in the afternoon?',
      expect: 'yesno',
      replies: [{ intent: 'confirmed', phrases: ['yes', 'yes please'], goto: 'early' }, again('ask')],
    },
    {
      id: 'early',
      say: 'Please come ten minutes early and bring your insurance card.',
      expect: 'open',
      replies: [{ intent: 'early', phrases: ['okay thank you', 'thank you'], goto: 'more' }, again('early')],
    },
    {
      id: 'more',
      say: 'Do you have another question?',
      expect: 'yesno',
      replies: [{ intent: 'nothing_else', phrases: ['no', 'no thank you'], goto: 'bye' }, again('more')],
    },
    { id: 'bye', say: 'Thank you and goodbye.', end: { reason: 'agent_hangup' } },
  ],
  fallback: { say: ['Sorry, I did not understand that.'], after: 5, goto: 'bye' },
  idle: { promptAfterMs: 6000, say: ['Are you still there?'], endAfterMs: 40_000 },
};

/** One question only, for runs that have no time: its whole conversation is `INTENTS[0]`. */
export const briefAgent: ScriptedAgent = {
  ...conversationAgent,
  greeting: 'Hello.',
  steps: conversationAgent.steps
    .filter(({ id }) => id === 'ask' || id === 'bye')
    .map((step) =>
      step.id === 'ask'
        ? {
            ...step,
            replies: step.replies!.map((reply) => (reply.intent === ASKED_AGAIN ? reply : { ...reply, goto: 'bye' })),
          }
        : step,
    ),
};

/** A callee who answers each question as often as it is asked. */
export function talkingCallee(number: string): PersonaInput {
  const answer = (hears: string[], says: string) => ({ hears, says, repeats: true, afterMs: 300 });
  return {
    kind: 'speaking',
    name: `talks at ${number}`,
    number,
    ringMs: 200,
    voice: 'slt',
    listens: [
      answer(['three in the afternoon', 'can you still come'], 'yes please'),
      answer(['insurance card', 'ten minutes early'], 'okay thank you'),
      answer(['another question'], 'no thank you'),
      { hears: ['did not understand'], saysAgain: true, repeats: true },
      // What came before it was not understood, or cut off.
      answer(['are you still there'], 'pardon'),
    ],
    otherwise: { says: 'pardon', times: 20 },
    hangsUpAfterSilenceMs: 30_000,
  };
}
