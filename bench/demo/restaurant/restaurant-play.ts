/**
 * `--agent cascade`: a restaurant's agent that converses freely. Its callee asks for a table, takes back the day,
 * talks into a long answer, and says goodbye; the agent looks and books with tools.
 */
import type { CascadeAgent } from '../../../media/contract/agent-definition.ts';
import type { ToolDefinition } from '../../../media/contract/tools.ts';
import { EMULATED_CALLEE_NUMBER } from '../../../src/carriers/emulated-account.ts';
import type { PersonaInput } from '../../emulators/persona.ts';
import type { Play } from '../play.ts';
import { readBenchJson } from '../read-bench-json.ts';
import { startToolEndpoint } from '../tool-endpoint.ts';
import { type ProviderChoice, startPlayProviders, USUAL_CHOICE } from './providers.ts';
import { faultsOfRestaurant } from './restaurant-verdict.ts';

/** In this order. */
const LINES = {
  asks: 'I would like to book a table.',
  orders: 'On friday, for two people please.',
  corrects: 'No wait, I mean saturday.',
  wonders: 'When do you close?',
  interrupts: 'Okay, my name is dana.',
  leaves: 'No thank you, goodbye.',
} as const;

const RESERVATION = { reference: '4711', spoken: 'four thousand seven hundred eleven' };

export async function startRestaurantPlay(choice: ProviderChoice = USUAL_CHOICE): Promise<Play> {
  const providers = await startPlayProviders(Object.values(LINES), choice);
  const endpoint = await startToolEndpoint(({ tool, arguments: args }) =>
    tool === 'check_table' ? { ...args, free: true } : { ...args, reference: RESERVATION.reference },
  );
  const { isEmulated, connections, environment, about, listen, think, speak } = providers;
  // Nobody bills the local voice.
  const spoken = speak.some(({ connection }) => connection !== undefined) ? (['characters'] as const) : [];
  const units = ['listen_seconds', 'output_tokens', ...spoken] as const;
  return {
    agent: {
      ...readBenchJson<CascadeAgent>('demo/restaurant/agent.json'),
      listen,
      think,
      speak,
      tools: toolsAt(endpoint.url),
    },
    personas: [isEmulated ? listener : reciter],
    metadata: {},
    connections,
    environment,
    endpoint,
    page: { title: 'Tony’s', phrases: Object.values(LINES) },
    about,
    faultsOf: (evidence) => faultsOfRestaurant(evidence, RESERVATION, units),
    async close() {
      endpoint.close();
      await providers.close();
    },
  };
}

const callee = { name: 'Dana', number: EMULATED_CALLEE_NUMBER, ringMs: 2_500, voice: 'rms' } as const;

/** Understands what the emulated model says, which is always the same. */
const listener: PersonaInput = {
  ...callee,
  kind: 'speaking',
  listens: [
    { hears: ['how can i help you'], says: LINES.asks, afterMs: 500 },
    { hears: ['how many people', 'for which day'], says: LINES.orders, afterMs: 500 },
    { hears: ['two on friday', 'on friday'], says: LINES.corrects, afterMs: 500 },
    { hears: ['two on saturday', 'on saturday'], says: LINES.wonders, afterMs: 500 },
    {
      hears: ['noon to eleven', 'every day from noon', 'the kitchen takes'],
      says: LINES.interrupts,
      interruptsAfterMs: 2_500,
    },
    { hears: ['anything else', 'is booked'], says: LINES.leaves, afterMs: 500 },
    // On a busy machine it is not understood at once, or asked whether it is there.
    {
      hears: ['did not catch', 'say that again', 'once more please', 'another way', 'are you still there'],
      saysAgain: true,
      repeats: true,
    },
  ],
  hangsUpAfterSilenceMs: 20_000,
};

/** Whatever a real model says: speaks when it has fallen silent, and once before it has. */
const reciter: PersonaInput = {
  ...callee,
  kind: 'reciting',
  lines: [
    LINES.asks,
    LINES.orders,
    LINES.corrects,
    LINES.wonders,
    { says: LINES.interrupts, interruptsAfterMs: 2_000 },
    LINES.leaves,
  ],
  afterMs: 2_500,
};

function toolsAt(url: string): ToolDefinition[] {
  const day = { type: 'string', description: 'a day of the week' };
  const people = { type: 'string', description: 'how many, in words' };
  return [
    {
      name: 'check_table',
      description: 'Whether a table is free on a day.',
      url,
      parameters: { type: 'object', properties: { day, people }, required: ['day', 'people'] },
    },
    {
      name: 'book_table',
      description: 'Reserves the table; answers with the number of the reservation.',
      url,
      parameters: {
        type: 'object',
        properties: { day, people, name: { type: 'string' } },
        required: ['day', 'people', 'name'],
      },
    },
  ];
}
