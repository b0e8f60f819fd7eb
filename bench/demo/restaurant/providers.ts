/**
 * Whose ears, model and voice the free conversation has: those of the keys in the environment, or, without any,
 * emulated ones on this machine, which speak the same protocols.
 */
import type { CascadeAgent } from '../../../media/contract/agent-definition.ts';
import { KEY_VARIABLES, usualProviders } from '../../../src/connections/usual-keys.ts';
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

/** Of ElevenLabs, emulated: one that the emulator knows. */
const EMULATED_VOICE = '21m00Tcm4TlvDq8ikWAM';

/** `vocabulary`: what the callee may say, for the emulated ears. Throws when some keys are there and others not. */
export async function startPlayProviders(
  vocabulary: readonly string[],
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<PlayProviders> {
  const missing = KEY_VARIABLES.filter((name) => !environment[name]);
  if (missing.length === KEY_VARIABLES.length) return emulatedProviders(vocabulary);
  const usual = usualProviders((name) => environment[name]);
  if (missing.length > 0 || usual === null) {
    throw new Error(
      `${missing.join(' and ')} missing: with all of ${KEY_VARIABLES.join(', ')} the demo uses the real providers, with none of them emulated ones.`,
    );
  }
  const about = [`real providers: ${usual.about}`];
  return { ...usual, isEmulated: false, environment: {}, about, close: async () => {} };
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
    speak: [{ connection: 'voice', engine: 'elevenlabs', voice: EMULATED_VOICE, model: 'eleven_flash_v2_5' }],
    environment: { MODEL_ALLOW_CIDRS: '127.0.0.1/32', NODE_EXTRA_CA_CERTS: providers.caFile },
    about: [
      'emulated Deepgram, OpenAI and ElevenLabs: their protocols, real sound',
      `with ${KEY_VARIABLES.join(', ')} in the environment the same command uses the real ones`,
    ],
    close: () => providers.stop(),
  };
}
