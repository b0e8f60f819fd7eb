/**
 * What the callees of `bench -- turns` say, and the agents that they say it to: one agent for each way of waiting,
 * which asks again whatever it was told, so that every line is answered alike. `<700>` is a pause of 700 ms in the
 * middle of a sentence.
 */
import type { Expectation, ScriptedAgent } from '../../media/contract/agent-definition.ts';
import type { PersonaInput } from '../emulators/persona.ts';

/** Words that fit a phrase of the step, words that fit none, and sentences of either kind with pauses in them. */
export type LineKind = 'phrase' | 'strange' | 'paused';

export interface Line {
  kind: LineKind;
  text: string;
}

/** The pauses in sentences, ms. */
export const PAUSES_MS = [500, 700, 900, 1_100] as const;

interface Conversation {
  expect: Expectation;
  phrases: string[];
  said: Record<LineKind, string[]>;
}

export const CONVERSATIONS: readonly Conversation[] = [
  {
    expect: 'open',
    phrases: [
      'i want to book a visit',
      'i have a question about my bill',
      'on thursday afternoon',
      'in the morning please',
      'cancel my visit',
    ],
    said: {
      phrase: ['i want to book a visit', 'i have a question about my bill', 'on thursday afternoon', 'cancel my visit'],
      strange: [
        'my neighbour has a very large brown dog',
        'it depends on what the weather will be like',
        'my sister told me that you have moved',
        'somebody left a letter at the door',
      ],
      paused: [
        'i want to <P> book a visit',
        'well <P> my neighbour has a very large brown dog',
        'i was thinking <P> that we might come <P> after the holidays',
        'it is because <P> my sister told me that you have moved',
        'i have a question <P> about my bill',
      ],
    },
  },
  {
    expect: 'yesno',
    phrases: ['yes', 'yes please', 'of course', 'no', 'no thank you', 'not today'],
    said: {
      phrase: ['yes please', 'no thank you', 'yes', 'not today'],
      strange: ['my brother always told me the same', 'that is difficult to say', 'what would it cost me'],
      paused: [
        'well <P> i would have to ask my wife',
        'i could do that <P> but only after the summer',
        'what would it <P> cost me',
      ],
    },
  },
  {
    expect: 'digits',
    phrases: ['<digits>', 'my number is <digits>'],
    said: {
      phrase: ['four two seven one', 'my number is nine three five'],
      strange: ['i do not have it with me right now', 'let me look for the letter that you sent'],
      paused: ['my number is <P> nine three five', 'four two <P> seven one', 'let me look <P> for the letter'],
    },
  },
];

export function agentFor({ expect, phrases }: Conversation, voice: string): ScriptedAgent {
  return {
    kind: 'scripted',
    name: `Turns, ${expect}`,
    direction: 'outbound',
    language: 'en-US',
    voice,
    script: 'Ask, and ask again.',
    greeting: 'Hello, this is River Dental.',
    steps: [
      {
        id: 'ask',
        say: ['What can I do for you?', 'Very good. What else?', 'I have noted that. Anything else?'],
        expect,
        replies: [{ intent: 'understood', phrases, goto: 'ask' }],
      },
      { id: 'bye', say: 'Goodbye.', end: { reason: 'agent_hangup' } },
    ],
    // Never so often that it would leave the step.
    fallback: { say: ['Sorry, I did not get that.', 'Could you say that again?'], after: 10, goto: 'bye' },
    idle: { promptAfterMs: 20_000, say: ['Are you still there?'], endAfterMs: 60_000 },
  };
}

/** The line `turn` of call `call`: two thirds with a pause, for pauses are what answers must not come into. */
export function lineOf({ said }: Conversation, call: number, turn: number): Line {
  const at = call * 4 + turn;
  const kind: LineKind = turn === 0 ? 'phrase' : turn === 1 ? 'strange' : 'paused';
  const texts = said[kind];
  const pauseMs = PAUSES_MS[(call + turn) % PAUSES_MS.length]!;
  return { kind, text: texts[at % texts.length]!.replaceAll('P', String(pauseMs)) };
}

const VOICES = ['slt', 'rms', 'awb'] as const;
const LINES_A_CALL = 4;

/** Someone with a number of their own, so that a call can be told by it. */
export function calleeOf(conversation: Conversation, call: number): PersonaInput {
  return {
    kind: 'reciting',
    name: `callee ${call}`,
    number: numberOf(call),
    voice: VOICES[call % VOICES.length]!,
    lines: Array.from({ length: LINES_A_CALL }, (_one, turn) => lineOf(conversation, call, turn).text),
  };
}

export function numberOf(call: number): string {
  return `+1415555${String(2_000 + call).padStart(4, '0')}`;
}
