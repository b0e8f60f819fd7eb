/**
 * How each provider is asked whether a key is right, which models it has, and whether a model answers. The parts of a
 * trial that differ between providers; `provider-trial.ts` sends them. Pure.
 */
import { geminiModelPath } from '../../media/contract/gemini-model-path.ts';
import type { ProviderName } from '../../media/contract/providers.ts';
import { memberOf, parsed } from './provider-words.ts';

export interface ProviderRequests {
  headers(
    credentials: Readonly<Record<string, string>>,
    settings: Readonly<Record<string, unknown>>,
  ): Record<string, string>;
  /** Below the base URL, the first that is not 404 counts: a server of one's own may lack one. */
  keyPaths: readonly string[];
  /** Of the answer to one of them: names of models. Null: it says nothing of models. */
  modelsIn(body: string): string[] | null;
  /** The key is right, and only forbids to ask what was asked. */
  isLimitedKey?(body: string): boolean;
  /** Of a refusal that other servers give to a wrong request. */
  isWrongKey?(body: string): boolean;
  /** One short answer of a model, each body tried when the one before was not understood. Absent: the list decides. */
  modelTrial?: { path(model: string): string; bodies(model: string): readonly object[] };
}

const ANTHROPIC_VERSION = '2023-06-01';
const CARTESIA_VERSION = '2026-08-14';

const names = (list: unknown, field: string): string[] | null =>
  Array.isArray(list)
    ? list
        .map((one) => memberOf(one, field))
        .filter((name) => typeof name === 'string' && name !== '')
        .map(String)
    : null;

export const PROVIDER_REQUESTS: Readonly<Record<ProviderName, ProviderRequests>> = {
  deepgram: {
    headers: ({ apiKey }) => ({ authorization: `Token ${apiKey}` }),
    keyPaths: ['/v1/auth/token', '/v1/projects'],
    modelsIn: () => null,
  },
  assemblyai: {
    headers: ({ apiKey = '' }) => ({ authorization: apiKey }),
    // A token for one session, which nobody opens: what streams answers nothing else.
    keyPaths: ['/v3/token?expires_in_seconds=60'],
    modelsIn: () => null,
  },
  openai_compatible: {
    headers: (credentials, settings) => openAiHeaders(credentials['apiKey'] ?? null, settings),
    keyPaths: ['/models'],
    modelsIn: (body) => names(memberOf(parsed(body), 'data'), 'id'),
    modelTrial: {
      path: () => '/chat/completions',
      // Newer models refuse the older name of the limit, and older servers do not know the newer one.
      bodies: (model) =>
        ['max_tokens', 'max_completion_tokens'].map((limit, index) => ({
          model,
          messages: [{ role: 'user', content: 'Say: yes.' }],
          [limit]: index === 0 ? 1 : 16,
        })),
    },
  },
  anthropic: {
    headers: ({ apiKey = '' }) => ({ 'x-api-key': apiKey, 'anthropic-version': ANTHROPIC_VERSION }),
    keyPaths: ['/v1/models'],
    modelsIn: (body) => names(memberOf(parsed(body), 'data'), 'id'),
    modelTrial: {
      path: () => '/v1/messages',
      bodies: (model) => [{ model, messages: [{ role: 'user', content: 'Say: yes.' }], max_tokens: 1 }],
    },
  },
  gemini: {
    headers: ({ apiKey = '' }) => ({ 'x-goog-api-key': apiKey }),
    keyPaths: ['/v1beta/models?pageSize=1000'],
    modelsIn: (body) =>
      names(memberOf(parsed(body), 'models'), 'name')?.map((name) => name.replace(/^models\//, '')) ?? null,
    // It is told as a wrong request (400).
    isWrongKey: (body) => body.includes('API_KEY_INVALID'),
    modelTrial: {
      path: (model) => `/${geminiModelPath(model)}:generateContent`,
      bodies: () => [
        { contents: [{ role: 'user', parts: [{ text: 'Say: yes.' }] }], generationConfig: { maxOutputTokens: 1 } },
      ],
    },
  },
  cartesia: {
    headers: ({ apiKey = '' }) => ({ 'x-api-key': apiKey, 'cartesia-version': CARTESIA_VERSION }),
    // It lists voices, and no models.
    keyPaths: ['/voices?limit=1'],
    modelsIn: () => null,
  },
  elevenlabs: {
    headers: ({ apiKey = '' }) => ({ 'xi-api-key': apiKey }),
    keyPaths: ['/v1/models', '/v1/user'],
    modelsIn: (body) => names(parsed(body), 'model_id'),
    // A key for speech alone may not list models.
    isLimitedKey: (body) => memberOf(memberOf(parsed(body), 'detail'), 'status') === 'missing_permissions',
  },
};

/** Of every request to a server of OpenAI's protocol. */
export function openAiHeaders(
  apiKey: string | null,
  settings: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const { organization, project } = settings;
  return {
    ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
    ...(typeof organization === 'string' ? { 'openai-organization': organization } : {}),
    ...(typeof project === 'string' ? { 'openai-project': project } : {}),
  };
}
