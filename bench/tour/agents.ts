/** Who talks in the tour: two agents of the workspace, and the people whom the emulated carrier connects. */
import type { PersonaInput } from '../emulators/persona.ts';

export const NUMBERS = {
  dana: '+14155550123',
  lead: '+14155550125',
  absent: '+14155550126',
  unallocated: '+14155550127',
  slow: '+14155550128',
  broken: '+14155550129',
} as const;

/** `toolUrl`: the client's own endpoint, for the custom tool. */
export function phoneAgent(toolUrl: string): Record<string, unknown> {
  return {
    kind: 'scripted',
    name: 'Order desk',
    direction: 'outbound',
    language: 'en-US',
    voice: 'rms',
    script: 'You call {{customer_name}} about the order {{order_id}}, which comes on {{delivery_day}}. Be brief.',
    greeting: 'Hello {{customer_name}}, this is the order desk.',
    steps: [
      {
        id: 'ask',
        say: 'Your parcel comes on {{delivery_day}}. Will you be at home?',
        expect: 'yesno',
        replies: [
          { intent: 'at_home', phrases: ['yes', 'yes please', 'yes i will'], goto: 'look' },
          { intent: 'not_at_home', phrases: ['no', 'no sorry'], goto: 'bye' },
        ],
      },
      {
        id: 'look',
        tool: {
          name: 'look_up_order',
          arguments: { order: '{{order_id}}' },
          saying: 'I look it up.',
          goto: 'tell',
          onError: 'bye',
        },
      },
      { id: 'tell', say: 'The driver is {{driver_place}}.', expect: 'none', goto: 'bye' },
      { id: 'bye', say: 'Thank you, and goodbye.', end: { reason: 'agent_hangup', disposition: 'at_home' } },
    ],
    fallback: { say: ['Sorry, please say that again.'], after: 3, goto: 'bye' },
    idle: { promptAfterMs: 8_000, say: ['Are you still there?'], endAfterMs: 20_000 },
    intents: ['at_home', 'not_at_home'],
    tools: [
      {
        name: 'look_up_order',
        description: 'Where an order is',
        url: toolUrl,
        headers: { 'X-Shop-Key': '{{secret.SHOP_KEY}}' },
        parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
        responseVariables: { driver_place: '$.result.place' },
      },
    ],
  };
}

export function webAgent(): Record<string, unknown> {
  return {
    kind: 'scripted',
    name: 'Shop window',
    direction: 'web',
    language: 'en-US',
    voice: 'rms',
    script: 'You greet {{customer_name}} on a website.',
    greeting: 'Welcome {{customer_name}}.',
    steps: [
      {
        id: 'ask',
        say: 'Shall I show you the shop?',
        expect: 'yesno',
        replies: [{ intent: 'wants_tour', phrases: ['yes', 'yes please'], goto: 'bye' }],
      },
      { id: 'bye', say: 'Thank you and goodbye.', end: { reason: 'agent_hangup' } },
    ],
    fallback: { say: ['Sorry, please say that again.'], after: 4, goto: 'bye' },
    idle: { promptAfterMs: 20_000, say: ['Are you there?'], endAfterMs: 60_000 },
  };
}

const SAYS_YES = {
  kind: 'speaking',
  voice: 'slt',
  listens: [
    { hears: ['be at home', 'will you be'], says: 'yes please', afterMs: 300 },
    { hears: ['say that again', 'are you still there'], saysAgain: true, repeats: true },
  ],
  hangsUpAfterSilenceMs: 20_000,
} as const;

export const PERSONAS = [
  { ...SAYS_YES, name: 'Dana', number: NUMBERS.dana, ringMs: 1_000 },
  { ...SAYS_YES, name: 'Lee', number: NUMBERS.lead, ringMs: 300 },
  { kind: 'silent', name: 'Nobody', number: NUMBERS.absent, ringMs: 300, outcome: 'no_answer' },
  { kind: 'silent', name: 'No such number', number: NUMBERS.unallocated, outcome: 'invalid_number' },
  { kind: 'silent', name: 'Rings for long', number: NUMBERS.slow, ringMs: 25_000 },
  {
    kind: 'silent',
    name: 'The carrier breaks off',
    number: NUMBERS.broken,
    faults: { placement: { kind: 'reset', dials: false } },
  },
] as unknown as PersonaInput[];
