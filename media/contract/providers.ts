/**
 * The providers that a workspace may have connections to, and what each declares of itself: the one list. Control, the
 * command line, the settings and media read it. What speaks a provider's protocol lies elsewhere: a trial request in
 * `src/connections/provider-trial.ts`, conversations in `media/engines`.
 */
import type { CredentialField } from './carriers.ts';
import type { ConnectionLimits } from './grant.ts';

/** What an agent may name a connection for. */
export type ProviderAbility = 'listen' | 'think' | 'speak';

export interface ProviderDeclaration {
  /** As people write it. */
  title: string;
  can: readonly ProviderAbility[];
  /** Without a slash at its end. A connection may name another: a region, a proxy, a server of one's own. */
  defaultBaseUrl: string;
  /** Only `required` ones must be given: a server of one's own often wants no key. */
  credentials: readonly (CredentialField & { required: boolean })[];
  settings: readonly ProviderSetting[];
  /** Those that mean something here. */
  limits: readonly (keyof ConnectionLimits)[];
}

/** Of the connection, whoever uses it; a model, a voice or a language is the agent's. */
export interface ProviderSetting {
  name: string;
  type: 'boolean' | 'text';
  /** For people: what it does. */
  about: string;
}

export const PROVIDERS = {
  deepgram: {
    title: 'Deepgram',
    can: ['listen', 'speak'],
    defaultBaseUrl: 'https://api.deepgram.com',
    credentials: [{ name: 'apiKey', about: 'the API key', secret: true, required: true }],
    settings: [
      { name: 'mipOptOut', type: 'boolean', about: 'true: what is sent is not kept to improve models (mip_opt_out)' },
    ],
    limits: ['concurrent', 'requestsPerMinute'],
  },
  assemblyai: {
    title: 'AssemblyAI',
    can: ['listen'],
    defaultBaseUrl: 'https://streaming.assemblyai.com',
    credentials: [{ name: 'apiKey', about: 'the API key', secret: true, required: true }],
    settings: [],
    limits: ['concurrent', 'requestsPerMinute'],
  },
  openai_compatible: {
    title: 'OpenAI, or a server that speaks its protocol',
    can: ['listen', 'think', 'speak'],
    defaultBaseUrl: 'https://api.openai.com/v1',
    credentials: [
      { name: 'apiKey', about: 'the API key; none where the server wants none', secret: true, required: false },
    ],
    settings: [
      { name: 'organization', type: 'text', about: 'the header OpenAI-Organization' },
      { name: 'project', type: 'text', about: 'the header OpenAI-Project' },
    ],
    limits: ['concurrent', 'requestsPerMinute', 'tokensPerMinute'],
  },
  anthropic: {
    title: 'Anthropic',
    can: ['think'],
    defaultBaseUrl: 'https://api.anthropic.com',
    credentials: [{ name: 'apiKey', about: 'the API key', secret: true, required: true }],
    settings: [],
    limits: ['concurrent', 'requestsPerMinute', 'tokensPerMinute'],
  },
  gemini: {
    title: 'Google Gemini',
    can: ['think'],
    defaultBaseUrl: 'https://generativelanguage.googleapis.com',
    credentials: [{ name: 'apiKey', about: 'the API key', secret: true, required: true }],
    settings: [],
    limits: ['concurrent', 'requestsPerMinute', 'tokensPerMinute'],
  },
  cartesia: {
    title: 'Cartesia',
    can: ['speak'],
    defaultBaseUrl: 'https://api.cartesia.ai',
    credentials: [{ name: 'apiKey', about: 'the API key', secret: true, required: true }],
    settings: [],
    limits: ['concurrent', 'requestsPerMinute'],
  },
  elevenlabs: {
    title: 'ElevenLabs',
    can: ['speak'],
    defaultBaseUrl: 'https://api.elevenlabs.io',
    credentials: [{ name: 'apiKey', about: 'the API key', secret: true, required: true }],
    settings: [
      { name: 'enableLogging', type: 'boolean', about: 'false: nothing is kept of what is said (zero retention)' },
    ],
    limits: ['concurrent', 'requestsPerMinute'],
  },
} as const satisfies Record<string, ProviderDeclaration>;

export type ProviderName = keyof typeof PROVIDERS;

export const PROVIDER_NAMES = Object.keys(PROVIDERS) as ProviderName[];

export function isProviderName(name: string): name is ProviderName {
  return Object.hasOwn(PROVIDERS, name);
}

export function providerDeclaration(name: ProviderName): ProviderDeclaration {
  return PROVIDERS[name];
}
