/**
 * The emulated Gemini: answers that a scenario gives, whole and streamed, and the list of models. Started by tests in
 * their process, and by `main.ts`. The official client judges it (`test/integration/emulators/gemini.test.ts`).
 */
import { modelProvider } from '../mind/model-provider.ts';
import { parseScenario, type Scenario, type ScenarioInput } from '../mind/scenario.ts';
import type { HttpExchange, Message, Provider } from '../provider.ts';
import { type EndpointOptions, type ProviderEndpoint, startProviderEndpoint } from '../provider-endpoint.ts';
import { errorAnswer, RequestRefused, unauthorizedAnswer } from './api-error.ts';
import { answerGenerate } from './generate-endpoint.ts';

export interface GeminiOptions extends EndpointOptions {
  scenario: ScenarioInput;
}

const METHODS = ['generateContent', 'streamGenerateContent'];

export function startGeminiEmulator(options: GeminiOptions): Promise<ProviderEndpoint> {
  return startProviderEndpoint(gemini(parseScenario(options.scenario)), options);
}

function gemini(first: Scenario): Provider {
  async function route(exchange: HttpExchange, scenario: Scenario): Promise<void> {
    const { method, path } = exchange;
    const models = scenario.models.map((id) => modelOf(id, scenario));
    const [, name = '', verb] = /^\/v1beta\/models\/([^/:]+)(?::(\w+))?$/.exec(path) ?? [];
    if (method === 'POST' && (verb === 'generateContent' || verb === 'streamGenerateContent'))
      return answerGenerate(exchange, scenario, decodeURIComponent(name), verb === 'streamGenerateContent');
    if (method === 'GET' && path === '/v1beta/models') return exchange.answer({ status: 200, body: { models } });
    const named = method === 'GET' ? models.find((model) => model.name === `models/${name}`) : undefined;
    if (named !== undefined) return exchange.answer({ status: 200, body: named });
    throw new RequestRefused('Requested entity was not found.', 404);
  }

  return modelProvider(first, {
    name: 'gemini',
    keyOf({ headers, query }) {
      const key = headers['x-goog-api-key'] ?? query.get('key');
      return typeof key === 'string' ? key : null;
    },
    unauthorized: (_request, key) => unauthorizedAnswer(key),
    failure: (_request, status) => errorAnswer(status),
    foreign: foreignEvent,
    route,
    refusalOf(error) {
      if (!(error instanceof RequestRefused)) return null;
      const { status, message } = error;
      return { status, message, answer: errorAnswer(status, message) };
    },
  });
}

function modelOf(id: string, { contextTokens }: Scenario) {
  return {
    name: `models/${id}`,
    version: '001',
    displayName: id,
    inputTokenLimit: contextTokens,
    outputTokenLimit: 65_536,
    supportedGenerationMethods: METHODS,
    temperature: 1,
    maxTemperature: 2,
  };
}

/** A part of another answer, with other words. */
function foreignEvent(message: Message): Message {
  if (typeof message !== 'string' || !message.startsWith('data: {')) return message;
  return message
    .replace(/"responseId":"[^"]*"/, '"responseId":"of-another"')
    .replace(/"text":"[^"]+"/, '"text":" elsewhere"');
}
