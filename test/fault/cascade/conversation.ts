/**
 * The conversation that is struck: a restaurant's agent with a primary and a backup of each provider, emulated, and a
 * callee who recites four lines, one of which is answered with a tool. Made by the runs of this folder.
 */
import type { PersonaInput } from '../../../bench/emulators/persona.ts';
import type { WantedConnection } from '../../../bench/harness/gateway.ts';
import { type ProvidersProcess, startProvidersProcess } from '../../../bench/harness/providers-process.ts';
import type { CascadeAgent } from '../../../media/contract/agent-definition.ts';

export interface CalleePatience {
  /** After the agent's words, before the callee's own. */
  afterMs: number;
  /** Of silence, before the callee hangs up. */
  patienceMs: number;
}

/** In this order, one a turn. */
export const LINES = [
  'I would like to book a table.',
  'When do you close?',
  'On friday, for two people please.',
  'No thank you, goodbye.',
] as const;
/** Said instead of a line: the first model then behaves as the name says, the second answers. */
export const STRANGE_LINES = {
  empty_stream: 'Please say nothing at all.',
  endless_answer: 'Tell me a very long story.',
} as const;
/** Of the turn whose answer needs a tool. */
export const TOOL_LINE = 2;
export const FILLERS = ['Let me see.', 'One moment.', 'Just a second.', 'Bear with me.'];
/** Longer than the conversation by far: a call that reaches it was stuck. */
export const MOST_SECONDS = 100;

const MODEL = 'emulated-mini';
const BACKUP_MODEL = 'emulated-backup';
/** Longer than the agent may owe any words, so that its fillers do not pass for its answer. */
const PATIENCE: CalleePatience = { afterMs: 2_500, patienceMs: 12_000 };
const VOICES = ['rms', 'awb'] as const;

const SCENARIO = {
  models: [MODEL, BACKUP_MODEL],
  rules: [
    { when: { model: MODEL, user: 'nothing at all' }, streamsNothing: true },
    {
      when: { model: MODEL, user: 'long story' },
      say: 'And then the cook went to the market. ',
      repeats: true,
    },
    { when: { user: 'long story' }, say: 'Once upon a time there was a cook, and that is all.' },
    {
      when: { result: { tool: 'check_table', matches: 'free' } },
      say: 'Yes, there is a table for two on Friday. Anything else?',
    },
    { when: { result: { tool: 'check_table' } }, say: 'I cannot look just now. Anything else?' },
    {
      when: { user: 'goodbye' },
      say: 'Thank you for calling. Goodbye!',
      call: [{ tool: 'end_call', arguments: {} }],
    },
    { when: { user: 'friday' }, call: [{ tool: 'check_table', arguments: { day: 'friday' } }] },
    { when: { user: 'close' }, say: 'We are open every day from noon to eleven in the evening.' },
    { when: { user: 'table' }, say: 'With pleasure. For which day, and for how many people?' },
  ],
  otherwise: { say: 'Very well. What else can I do for you?' },
};

export function providersOfConversation(keys: { key?: string; backupKey?: string } = {}): Promise<ProvidersProcess> {
  const vocabulary = [...LINES, ...Object.values(STRANGE_LINES)];
  return startProvidersProcess({ vocabulary, scenario: SCENARIO, ...keys });
}

/** The backups have a key of their own, so that the first can be revoked alone. */
export function connectionsTo(providers: ProvidersProcess): WantedConnection[] {
  const { origins, key, backupKey } = providers;
  const brain = { provider: 'openai_compatible', baseUrl: `${origins['openai']}/v1` };
  return [
    { name: 'ears', provider: 'deepgram', baseUrl: origins['deepgram']!, credentials: { apiKey: key } },
    { name: 'brain', ...brain, credentials: { apiKey: key } },
    { name: 'brain-2', ...brain, credentials: { apiKey: backupKey } },
    { name: 'voice', provider: 'elevenlabs', baseUrl: origins['elevenlabs']!, credentials: { apiKey: key } },
    { name: 'voice-2', ...brain, credentials: { apiKey: backupKey } },
  ];
}

export function agentOf(toolUrl: string): CascadeAgent {
  return {
    kind: 'cascade',
    schema: 1,
    name: 'Mia',
    direction: 'outbound',
    language: 'en-US',
    script: 'You are Mia of a restaurant, on the telephone.',
    firstMessage: "Hello, this is Mia from Tony's. How can I help you?",
    think: [
      { connection: 'brain', model: MODEL },
      { connection: 'brain-2', model: BACKUP_MODEL },
    ],
    listen: { connection: 'ears', engine: 'deepgram' },
    speak: [
      { connection: 'voice', engine: 'elevenlabs', voice: 'emulated-robot', model: 'eleven_flash_v2_5' },
      { connection: 'voice-2', engine: 'openai', voice: 'alloy', model: 'tts-1' },
    ],
    tools: [
      {
        name: 'check_table',
        description: 'Whether a table is free on a day.',
        url: toolUrl,
        timeoutMs: 3_000,
        parameters: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
      },
    ],
    builtInTools: ['end_call'],
    filler: { say: FILLERS },
    // Only after the callee's own patience, also that of a test on a busy machine: two who ask each other talk at once.
    idle: { promptAfterMs: 20_000, say: ['Are you still there?'], endAfterMs: 60_000 },
    maxDurationSeconds: MOST_SECONDS,
  };
}

/** A callee with a number of their own, so that a call can be told by it. */
export function calleeOf(call: number, lines: readonly string[], patience = PATIENCE): PersonaInput {
  return {
    kind: 'reciting',
    name: `callee ${call}`,
    number: numberOf(call),
    voice: VOICES[call % VOICES.length]!,
    ringMs: 300,
    lines: [...lines],
    ...patience,
  };
}

export function numberOf(call: number): string {
  return `+1415556${String(1_000 + call).padStart(4, '0')}`;
}
