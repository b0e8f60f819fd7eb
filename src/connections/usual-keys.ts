/**
 * The connections that the usual variables of an environment name, and what an agent hears, thinks and speaks with
 * through them. Used by `parley quickstart --agent cascade` and by tests of agents. Pure.
 */
import type { CascadeAgent } from '../../media/contract/agent-definition.ts';
import type { ProviderName } from '../../media/contract/providers.ts';

export interface UsualProviders {
  connections: { name: string; provider: string; baseUrl?: string; credentials: Record<string, string> }[];
  /** Of the agent. */
  listen: CascadeAgent['listen'];
  think: CascadeAgent['think'];
  speak: CascadeAgent['speak'];
  /** For people. */
  about: string;
}

type LookUp = (name: string) => string | undefined;

/** Who may have a part of the agent; its connection is named after the part. */
interface Party<Part> {
  title: string;
  provider: ProviderName;
  key: string;
  /** Names the address, where it is another than the provider's own: a region, a proxy, a server of one's own. */
  baseUrl: string;
  /** It is there where its address is, and may want no key. */
  isOwnServer?: true;
  part(lookUp: LookUp): Part;
}

/** The first whose key is there has the part. */
const EARS: readonly Party<CascadeAgent['listen']>[] = [
  {
    title: 'Deepgram',
    provider: 'deepgram',
    key: 'DEEPGRAM_API_KEY',
    baseUrl: 'DEEPGRAM_BASE_URL',
    part: () => ({ connection: 'ears', engine: 'deepgram' }),
  },
  {
    title: 'AssemblyAI',
    provider: 'assemblyai',
    key: 'ASSEMBLYAI_API_KEY',
    baseUrl: 'ASSEMBLYAI_BASE_URL',
    part: () => ({ connection: 'ears', engine: 'assemblyai' }),
  },
];

const BRAINS: readonly Party<CascadeAgent['think'][number]>[] = [
  {
    title: 'OpenAI',
    provider: 'openai_compatible',
    key: 'OPENAI_API_KEY',
    baseUrl: 'OPENAI_BASE_URL',
    isOwnServer: true,
    part: (lookUp) => ({ connection: 'brain', model: lookUp('OPENAI_MODEL') || 'gpt-4.1-mini' }),
  },
  {
    title: 'Anthropic',
    provider: 'anthropic',
    key: 'ANTHROPIC_API_KEY',
    baseUrl: 'ANTHROPIC_BASE_URL',
    part: (lookUp) => ({
      connection: 'brain',
      engine: 'anthropic',
      model: lookUp('ANTHROPIC_MODEL') || 'claude-haiku-4-5',
    }),
  },
  {
    title: 'Gemini',
    provider: 'gemini',
    key: 'GEMINI_API_KEY',
    baseUrl: 'GEMINI_BASE_URL',
    part: (lookUp) => ({
      connection: 'brain',
      engine: 'gemini',
      model: lookUp('GEMINI_MODEL') || 'gemini-3.5-flash-lite',
    }),
  },
];

const VOICES: readonly Party<CascadeAgent['speak'][number]>[] = [
  {
    title: 'ElevenLabs',
    provider: 'elevenlabs',
    key: 'ELEVENLABS_API_KEY',
    baseUrl: 'ELEVENLABS_BASE_URL',
    part: (lookUp) => ({
      connection: 'voice',
      engine: 'elevenlabs',
      // “Rachel”, whom every account has.
      voice: lookUp('ELEVENLABS_VOICE_ID') || '21m00Tcm4TlvDq8ikWAM',
      model: 'eleven_flash_v2_5',
    }),
  },
  {
    title: 'Cartesia',
    provider: 'cartesia',
    key: 'CARTESIA_API_KEY',
    baseUrl: 'CARTESIA_BASE_URL',
    part: (lookUp) => ({
      connection: 'voice',
      engine: 'cartesia',
      voice: lookUp('CARTESIA_VOICE_ID') || 'f786b574-daa5-4673-aa0c-cbe3e8534c02',
      model: 'sonic-3',
    }),
  },
];

const LOCAL_VOICE = { engine: 'local', voice: 'slt' };

/** Any of them may be given as a file instead: `DEEPGRAM_API_KEY_FILE`. */
export const KEY_VARIABLES: readonly string[] = [
  ...new Set([EARS, BRAINS, VOICES].flatMap((parties) => parties.map(({ key }) => key))),
];

/** Of the address of a connection, by its provider. */
export const BASE_URL_VARIABLES: Readonly<Record<string, string>> = Object.fromEntries(
  [EARS, BRAINS, VOICES].flatMap((parties) => parties.map(({ provider, baseUrl }) => [provider, baseUrl])),
);

/**
 * `lookUp` gives the value of a variable. Null where there are no ears or no model; where no other voice is there the
 * local one speaks.
 */
export function usualProviders(lookUp: LookUp): UsualProviders | null {
  const ears = firstOf(EARS, lookUp);
  const others = usualThinkers(lookUp);
  if (ears === undefined || others === null) return null;
  return {
    ...others,
    connections: [connection('ears', ears, lookUp), ...others.connections],
    listen: ears.part(lookUp),
    about: `${ears.title}, ${others.about}`,
  };
}

/** As `usualProviders`, where nobody has to hear. Null where there is no model. */
export function usualThinkers(lookUp: LookUp): Omit<UsualProviders, 'listen'> | null {
  const brain = firstOf(BRAINS, lookUp);
  if (brain === undefined) return null;
  const voice = firstOf(VOICES, lookUp);
  const think = brain.part(lookUp);
  return {
    connections: [
      connection('brain', brain, lookUp),
      ...(voice === undefined ? [] : [connection('voice', voice, lookUp)]),
    ],
    think: [think],
    speak: [voice?.part(lookUp) ?? LOCAL_VOICE],
    about: `${lookUp(brain.baseUrl) || brain.title} with ${think.model}, ${voice?.title ?? 'the local voice'}`,
  };
}

function firstOf<Part>(parties: readonly Party<Part>[], lookUp: LookUp): Party<Part> | undefined {
  return parties.find(({ key, baseUrl, isOwnServer }) => lookUp(key) || (isOwnServer === true && lookUp(baseUrl)));
}

function connection(
  name: string,
  { provider, key, baseUrl }: Party<unknown>,
  lookUp: LookUp,
): UsualProviders['connections'][number] {
  const url = lookUp(baseUrl) || undefined;
  const apiKey = lookUp(key) || undefined;
  return {
    name,
    provider,
    ...(url === undefined ? {} : { baseUrl: url }),
    credentials: apiKey === undefined ? {} : { apiKey },
  };
}
