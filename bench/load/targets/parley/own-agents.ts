/**
 * The agents that the tool's own service talks with, at choice of `--agent-kind`: a tone (sockets and nothing else), a
 * script with the local engines, a free conversation with emulated providers. They understand `OWN_SENTENCES`.
 */
import type {
  AgentDefinition,
  CascadeAgent,
  ScriptedAgent,
  ToneAgent,
} from '../../../../media/contract/agent-definition.ts';
import type { WantedConnection } from '../../../harness/gateway.ts';
import { type ProvidersProcess, startProvidersProcess } from '../../../harness/providers-process.ts';
import { OWN_SENTENCES, ownSounds } from '../../speech/clips.ts';

export const AGENT_KINDS = ['scripted', 'tone', 'cascade'] as const;
export type AgentKind = (typeof AGENT_KINDS)[number];

/** An agent and what must run beside the service for it. */
export interface OwnAgent {
  agent: AgentDefinition;
  connections: WantedConnection[];
  /** Of all processes of the service. */
  environment: Record<string, string>;
  /** Of the emulated providers: not the target, although they run beside it. Null: there are none. */
  providersPid: number | null;
  stop(): Promise<void>;
}

const MAX_SECONDS = 1_800;
const [HOURS, STREET, YES, MENU, NO] = OWN_SENTENCES;
const ANSWERS: Record<string, string> = {
  [HOURS]: 'We are open from noon to eleven, every day of the week. What else would you like to know?',
  [STREET]: 'We are on Market Street, next to the old post office. Shall I tell you more?',
  [YES]: 'Very well. We have a garden too, and it is quiet in the evening. Would you like a table?',
  [MENU]:
    'We have pizza and pasta and salad and soup and bread and cheese and cake, and coffee after that. Anything else?',
  [NO]: 'As you like. I am here if you have another question. What may I do for you?',
};

export async function startOwnAgent(kind: AgentKind): Promise<OwnAgent> {
  if (kind === 'cascade') return startCascade();
  const agent = kind === 'tone' ? TONE : scripted();
  return { agent, connections: [], environment: {}, providersPid: null, stop: async () => {} };
}

const TONE: ToneAgent = { kind: 'tone', name: 'Tone', direction: 'any', toneHz: 440, maxDurationSeconds: MAX_SECONDS };

/** Goes round as long as it understands something: each step answers a sentence, and waits for the next. */
function scripted(): ScriptedAgent {
  const stepOf = (sentence: string): string => `answer${OWN_SENTENCES.indexOf(sentence as typeof HOURS)}`;
  const replies = OWN_SENTENCES.map((sentence) => ({
    intent: stepOf(sentence),
    phrases: [sentence],
    goto: stepOf(sentence),
  }));
  return {
    kind: 'scripted',
    name: 'Paul',
    direction: 'any',
    language: 'en-US',
    voice: 'slt',
    script: 'You answer questions about a restaurant.',
    greeting: 'Hello, this is the restaurant on Market Street. How can I help you?',
    steps: [
      { id: 'ask', expect: 'open', replies },
      ...OWN_SENTENCES.map((sentence) => ({
        id: stepOf(sentence),
        say: ANSWERS[sentence]!,
        expect: 'open' as const,
        replies,
      })),
      { id: 'bye', say: 'I cannot hear you. Goodbye!', end: { reason: 'agent_hangup' } },
    ],
    fallback: { say: ['Sorry, could you say that again please?'], after: 10, goto: 'bye' },
    idle: { promptAfterMs: 15_000, say: ['Are you still there?'], endAfterMs: 120_000 },
    maxDurationSeconds: MAX_SECONDS,
  };
}

async function startCascade(): Promise<OwnAgent> {
  const providers = await startProvidersProcess({
    vocabulary: OWN_SENTENCES,
    knownSounds: await ownSounds(),
    scenario: {
      models: ['emulated-mini'],
      rules: OWN_SENTENCES.map((sentence, at) => ({
        name: `answer${at}`,
        when: { user: sentence },
        say: ANSWERS[sentence]!,
      })),
      otherwise: { say: 'Could you say that again?' },
    },
  });
  const agent: CascadeAgent = {
    kind: 'cascade',
    schema: 1,
    name: 'Paul',
    direction: 'any',
    language: 'en-US',
    script: 'You answer questions about a restaurant, in a sentence.',
    firstMessage: 'Hello, this is the restaurant on Market Street. How can I help you?',
    think: [{ connection: 'brain', model: 'emulated-mini' }],
    listen: { engine: 'deepgram', connection: 'ears', model: 'nova-3' },
    speak: [{ connection: 'voice', engine: 'elevenlabs', voice: '21m00Tcm4TlvDq8ikWAM', model: 'eleven_flash_v2_5' }],
    filler: { say: [] },
    maxDurationSeconds: MAX_SECONDS,
  };
  return {
    agent,
    connections: connectionsOf(providers),
    environment: { MODEL_ALLOW_CIDRS: '127.0.0.1/32', NODE_EXTRA_CA_CERTS: providers.caFile },
    providersPid: providers.pid,
    stop: () => providers.stop(),
  };
}

function connectionsOf({ origins, key }: ProvidersProcess): WantedConnection[] {
  const credentials = { apiKey: key };
  const at = (provider: string, path = ''): string => `${origins[provider]}${path}`;
  return [
    { name: 'ears', provider: 'deepgram', baseUrl: at('deepgram'), credentials },
    { name: 'brain', provider: 'openai_compatible', baseUrl: at('openai', '/v1'), credentials },
    { name: 'voice', provider: 'elevenlabs', baseUrl: at('elevenlabs'), credentials },
  ];
}
