/**
 * The agent and the callees that fault runs are made of: a short conversation in the cheapest voice, whose questions
 * can be asked twice, so that a caller who lost the agent for a moment can answer again. All of them want the same
 * answer: a callee who hears only that somebody speaks can hold the conversation too, and twenty of them cost less than
 * one that listens for words.
 */

import type { PersonaInput } from '../../../bench/emulators/persona.ts';
import type { ScriptedAgent } from '../../../media/contract/agent-definition.ts';

/** In the order in which a whole conversation has them. */
export const INTENTS = ['confirmed', 'early', 'reminded'] as const;
/** Not a part of the conversation: the caller did not catch the question and has it asked again. */
export const ASKED_AGAIN = 'asked_again';

const ANSWER = 'yes please';
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
      replies: [{ intent: 'confirmed', phrases: ['yes', ANSWER], goto: 'early' }, again('ask')],
    },
    {
      id: 'early',
      say: 'Can you come ten minutes early, and bring your insurance card?',
      expect: 'yesno',
      replies: [{ intent: 'early', phrases: ['yes', ANSWER], goto: 'remind' }, again('early')],
    },
    {
      id: 'remind',
      say: 'Shall we remind you by a message on the day before?',
      expect: 'yesno',
      replies: [{ intent: 'reminded', phrases: ['yes', ANSWER], goto: 'bye' }, again('remind')],
    },
    { id: 'bye', say: 'Thank you and goodbye.', end: { reason: 'agent_hangup' } },
  ],
  fallback: { say: ['Sorry, I did not understand that.'], after: 5, goto: 'bye' },
  idle: { promptAfterMs: 6000, say: ['Are you still there?'], endAfterMs: 40_000 },
};

/** One question only, for runs that have no time: its whole conversation is `INTENTS[0]`. */
export const oneQuestionAgent: ScriptedAgent = {
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

/**
 * A callee who gives the one answer whenever the agent has spoken and is silent for a second. No recogniser works for
 * it.
 */
export function agreeingCallee(number: string): PersonaInput {
  return { ...calleeAt(number), listens: [], otherwise: { says: ANSWER, times: 100 }, patienceMs: 1_000 };
}

function calleeAt(number: string) {
  return {
    kind: 'speaking',
    name: `talks at ${number}`,
    number,
    ringMs: 200,
    voice: 'slt',
    hangsUpAfterSilenceMs: 30_000,
  } as const;
}
