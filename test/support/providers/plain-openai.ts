/** The emulated OpenAI without TLS, as servers on a private network speak, for whoever asks it for whole answers. */

import type { ScenarioInput } from '../../../bench/emulators/providers/mind/scenario.ts';
import { startOpenAiEmulator } from '../../../bench/emulators/providers/openai/openai-emulator.ts';
import type { ProviderEndpoint } from '../../../bench/emulators/providers/provider-endpoint.ts';

export interface PlainOpenAi {
  endpoint: ProviderEndpoint;
  /** What a client is given. */
  baseUrl: string;
  close(): Promise<void>;
}

/** Its model is `emulated-1`; `dialect`: ways in which it differs. */
export async function startPlainOpenAi(key: string, dialect?: ScenarioInput['dialect']): Promise<PlainOpenAi> {
  const endpoint = await startOpenAiEmulator({
    keys: [key],
    voice: null,
    isPlain: true,
    scenario: {
      models: ['emulated-1'],
      timing: { firstTokenMs: 0, tokenMs: 0 },
      ...(dialect === undefined ? {} : { dialect }),
      // Whatever is said: it is not what somebody hears who asks for JSON.
      rules: [{ when: { user: '.' }, say: 'Hello! How can I help you today?' }],
    },
  });
  return { endpoint, baseUrl: `${endpoint.origin}/v1`, close: () => endpoint.close() };
}
