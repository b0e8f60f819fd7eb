/**
 * Whose ears, model and voice the free conversation has: those of the keys in the environment, or, without any,
 * emulated ones on this machine, which speak the same protocols.
 */
import type { CascadeAgent } from '../../../media/contract/agent-definition.ts';
import type { WantedConnection } from '../../harness/gateway.ts';
import { startProvidersProcess } from '../../harness/providers-process.ts';

export interface PlayProviders {
  isEmulated: boolean;
  connections: WantedConnection[];
  /** Of the agent: what it thinks and speaks with. */
  think: CascadeAgent['think'];
  speak: CascadeAgent['speak'];
  /** Of the service. */
  environment: Record<string, string>;
  about: string[];
  close(): Promise<void>;
}

const KEYS = ['DEEPGRAM_API_KEY', 'OPENAI_API_KEY', 'ELEVENLABS_API_KEY'] as const;
const OPENAI_MODEL = 'gpt-4.1-mini';
/** “Rachel”, whom every account of ElevenLabs has. */
const ELEVENLABS_VOICE = '21m00Tcm4TlvDq8ikWAM';

/** `vocabulary`: what the callee may say, for the emulated ears. Throws when some keys are there and others not. */
export async function startPlayProviders(
  vocabulary: readonly string[],
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<PlayProviders> {
  const missing = KEYS.filter((name) => !environment[name]);
  if (missing.length === KEYS.length) return emulatedProviders(vocabulary);
  if (missing.length > 0) {
    throw new Error(
      `${missing.join(' and ')} missing: with all of ${KEYS.join(', ')} the demo uses the real providers, with none of them emulated ones.`,
    );
  }
  const key = (name: (typeof KEYS)[number]): { apiKey: string } => ({ apiKey: environment[name]! });
  const model = environment['OPENAI_MODEL'] || OPENAI_MODEL;
  const voice = environment['ELEVENLABS_VOICE_ID'] || ELEVENLABS_VOICE;
  const baseUrl = environment['OPENAI_BASE_URL'];
  return {
    isEmulated: false,
    connections: [
      { name: 'ears', provider: 'deepgram', credentials: key('DEEPGRAM_API_KEY') },
      { name: 'brain', provider: 'openai_compatible', ...(baseUrl && { baseUrl }), credentials: key('OPENAI_API_KEY') },
      { name: 'voice', provider: 'elevenlabs', credentials: key('ELEVENLABS_API_KEY') },
    ],
    think: [{ connection: 'brain', model }],
    speak: [{ connection: 'voice', engine: 'elevenlabs', voice, model: 'eleven_flash_v2_5' }],
    environment: {},
    about: [`real providers: Deepgram, ${baseUrl ?? 'OpenAI'} with ${model}, ElevenLabs`],
    close: async () => {},
  };
}

async function emulatedProviders(vocabulary: readonly string[]): Promise<PlayProviders> {
  const providers = await startProvidersProcess({ vocabulary });
  const credentials = { apiKey: providers.key };
  const origin = (name: string): string => providers.origins[name]!;
  return {
    isEmulated: true,
    connections: [
      { name: 'ears', provider: 'deepgram', baseUrl: origin('deepgram'), credentials },
      { name: 'brain', provider: 'openai_compatible', baseUrl: `${origin('openai')}/v1`, credentials },
      { name: 'voice', provider: 'elevenlabs', baseUrl: origin('elevenlabs'), credentials },
    ],
    think: [{ connection: 'brain', model: 'emulated-mini' }],
    speak: [{ connection: 'voice', engine: 'elevenlabs', voice: ELEVENLABS_VOICE, model: 'eleven_flash_v2_5' }],
    environment: { MODEL_ALLOW_CIDRS: '127.0.0.1/32', NODE_EXTRA_CA_CERTS: providers.caFile },
    about: [
      'emulated Deepgram, OpenAI and ElevenLabs: their protocols, real sound',
      `with ${KEYS.join(', ')} in the environment the same command uses the real ones`,
    ],
    close: () => providers.stop(),
  };
}
