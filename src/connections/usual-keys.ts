/**
 * The connections that the usual variables of an environment name, and what an agent thinks and speaks with through
 * them. Used by `parley quickstart --agent cascade` and by the demo. Pure.
 */
import type { CascadeAgent } from '../../media/contract/agent-definition.ts';

export interface UsualProviders {
  connections: { name: string; provider: string; baseUrl?: string; credentials: Record<string, string> }[];
  /** Of the agent. */
  think: CascadeAgent['think'];
  speak: CascadeAgent['speak'];
  /** For people. */
  about: string;
}

/** Any of them may be given as a file instead: `DEEPGRAM_API_KEY_FILE`. */
export const KEY_VARIABLES = [
  'DEEPGRAM_API_KEY',
  'OPENAI_API_KEY',
  'ELEVENLABS_API_KEY',
  'ANTHROPIC_API_KEY',
  'CARTESIA_API_KEY',
] as const;

/** Of the address of each connection, by its name. */
export const BASE_URL_VARIABLES: Readonly<Record<string, string>> = {
  ears: 'DEEPGRAM_BASE_URL',
  brain: 'OPENAI_BASE_URL',
  voice: 'ELEVENLABS_BASE_URL',
};

const OPENAI_MODEL = 'gpt-4.1-mini';
const ANTHROPIC_MODEL = 'claude-haiku-4-5';
/** “Rachel”, whom every account of ElevenLabs has. */
const ELEVENLABS_VOICE = '21m00Tcm4TlvDq8ikWAM';
const ELEVENLABS_MODEL = 'eleven_flash_v2_5';
const CARTESIA_VOICE = 'f786b574-daa5-4673-aa0c-cbe3e8534c02';
const CARTESIA_MODEL = 'sonic-3';
const LOCAL_VOICE = 'slt';

/**
 * `lookUp` gives the value of a variable. Null where there are no ears or no model: a key of Deepgram, and of OpenAI
 * (or the address of a server that wants none) or Anthropic, must be there. Without a key of ElevenLabs Cartesia
 * speaks, and without either the local voice.
 */
export function usualProviders(lookUp: (name: string) => string | undefined): UsualProviders | null {
  const [ears, brain, voice, anthropic, cartesia] = KEY_VARIABLES.map((name) => lookUp(name) || undefined);
  const brainUrl = lookUp(BASE_URL_VARIABLES['brain']!) || undefined;
  const isAnthropic = brain === undefined && brainUrl === undefined;
  if (ears === undefined || (isAnthropic && anthropic === undefined)) return null;
  const model = isAnthropic ? lookUp('ANTHROPIC_MODEL') || ANTHROPIC_MODEL : lookUp('OPENAI_MODEL') || OPENAI_MODEL;
  const connection = (
    name: string,
    provider: string,
    baseUrl: string | undefined,
    apiKey: string | undefined,
  ): UsualProviders['connections'][number] => ({
    name,
    provider,
    ...(baseUrl && { baseUrl }),
    credentials: apiKey === undefined ? {} : { apiKey },
  });
  const connections = [
    connection('ears', 'deepgram', lookUp(BASE_URL_VARIABLES['ears']!), ears),
    isAnthropic
      ? connection('brain', 'anthropic', undefined, anthropic)
      : connection('brain', 'openai_compatible', brainUrl, brain),
  ];
  const think = [{ connection: 'brain', ...(isAnthropic && { engine: 'anthropic' }), model }];
  const about = `Deepgram, ${isAnthropic ? 'Anthropic' : (brainUrl ?? 'OpenAI')} with ${model}`;
  if (voice === undefined && cartesia !== undefined) {
    connections.push(connection('voice', 'cartesia', undefined, cartesia));
    const name = lookUp('CARTESIA_VOICE_ID') || CARTESIA_VOICE;
    return {
      connections,
      think,
      speak: [{ connection: 'voice', engine: 'cartesia', voice: name, model: CARTESIA_MODEL }],
      about: `${about}, Cartesia`,
    };
  }
  if (voice === undefined) {
    return { connections, think, speak: [{ engine: 'local', voice: LOCAL_VOICE }], about: `${about}, the local voice` };
  }
  connections.push(connection('voice', 'elevenlabs', lookUp(BASE_URL_VARIABLES['voice']!), voice));
  const name = lookUp('ELEVENLABS_VOICE_ID') || ELEVENLABS_VOICE;
  return {
    connections,
    think,
    speak: [{ connection: 'voice', engine: 'elevenlabs', voice: name, model: ELEVENLABS_MODEL }],
    about: `${about}, ElevenLabs`,
  };
}
