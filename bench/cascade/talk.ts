/**
 * The conversation of `bench -- cascade`: three questions, an interruption, a goodbye, the same in each call. The agent
 * thinks with the emulated model, by rules alone, so that every reply is known and its sound is made once.
 */
import type { CascadeAgent } from '../../media/contract/agent-definition.ts';
import type { PersonaInput } from '../emulators/persona.ts';

const LINES = {
  hours: 'what are your opening hours',
  street: 'on which street are you',
  menu: 'tell me the whole menu please',
  interrupts: 'that is enough for today',
  leaves: 'no thank you goodbye',
} as const;

/** One sentence without a pause in it, so that what was heard of it can be told from its length. */
export const LONG_ANSWER =
  'We have pizza and pasta and salad and soup and bread and olives and cheese and cake and coffee and tea and juice and water all day long.';

const GREETING = 'Hello, this is the bench. How can I help you?';
export const VOICE = { id: '21m00Tcm4TlvDq8ikWAM', flite: 'slt' } as const;

export const CALLERS_VOICE = 'rms';

export const VOCABULARY: readonly string[] = Object.values(LINES);

export const SCENARIO = {
  models: ['emulated-mini'],
  rules: [
    { name: 'hours', when: { user: 'opening hours' }, say: 'We are open from noon to eleven, every day of the week.' },
    { name: 'street', when: { user: 'street' }, say: 'We are on Market Street, next to the old post office.' },
    { name: 'menu', when: { user: 'menu' }, say: LONG_ANSWER },
    { name: 'enough', when: { user: 'enough' }, say: 'Very well. Is there anything else?' },
    {
      name: 'goodbye',
      when: { user: 'goodbye' },
      say: 'Thank you for calling, goodbye!',
      call: [{ tool: 'end_call', arguments: { reason: 'the caller said goodbye' } }],
    },
  ],
  otherwise: { say: 'Could you say that again?' },
} as const;

export function talkingAgent(): CascadeAgent {
  return {
    kind: 'cascade',
    schema: 1,
    name: 'Bench',
    direction: 'any',
    language: 'en-US',
    script: 'You answer questions about a restaurant, in a sentence.',
    firstMessage: GREETING,
    think: [{ connection: 'brain', model: 'emulated-mini' }],
    listen: { engine: 'deepgram', connection: 'ears', model: 'nova-3' },
    speak: [{ connection: 'voice', engine: 'elevenlabs', voice: VOICE.id, model: 'eleven_flash_v2_5' }],
    builtInTools: ['end_call'],
    filler: { say: [] },
    maxDurationSeconds: 120,
  };
}

/** Someone with a number of their own, so that a call can be told by it. */
export function callerOf(call: number): PersonaInput {
  return {
    kind: 'reciting',
    name: `caller ${call}`,
    number: numberOf(call),
    voice: CALLERS_VOICE,
    ringMs: 1_000,
    afterMs: 700,
    lines: [
      LINES.hours,
      LINES.street,
      LINES.menu,
      { says: LINES.interrupts, interruptsAfterMs: 2_000 + (call % 10) * 100 },
      LINES.leaves,
    ],
  };
}

export function numberOf(call: number): string {
  return `+1415556${String(2_000 + call).padStart(4, '0')}`;
}
