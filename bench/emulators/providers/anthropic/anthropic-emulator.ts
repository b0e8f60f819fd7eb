/**
 * The emulated Anthropic: Messages that a scenario answers, and the list of models. Started by tests in their process,
 * and by `main.ts`. The official client judges it (`test/integration/emulators/anthropic.test.ts`).
 */
import { modelProvider } from '../mind/model-provider.ts';
import { parseScenario, type Scenario, type ScenarioInput } from '../mind/scenario.ts';
import type { HttpExchange, Message, Provider } from '../provider.ts';
import { type EndpointOptions, type ProviderEndpoint, startProviderEndpoint } from '../provider-endpoint.ts';
import { errorAnswer, RequestRefused, unauthorizedAnswer } from './api-error.ts';
import { answerMessages } from './messages-endpoint.ts';

export interface AnthropicOptions extends EndpointOptions {
  scenario: ScenarioInput;
}

const RELEASED = '2026-01-01T00:00:00Z';

export function startAnthropicEmulator(options: AnthropicOptions): Promise<ProviderEndpoint> {
  return startProviderEndpoint(anthropic(parseScenario(options.scenario)), options);
}

function anthropic(first: Scenario): Provider {
  async function route(exchange: HttpExchange, scenario: Scenario): Promise<void> {
    const { method, path } = exchange;
    const models = scenario.models.map((id) => ({ id, type: 'model', display_name: id, created_at: RELEASED }));
    if (method === 'POST' && path === '/v1/messages') return answerMessages(exchange, scenario);
    if (method === 'GET' && path === '/v1/models') {
      const [first_id = null, last_id = null] = [models[0]?.id, models.at(-1)?.id];
      const body = { data: models, has_more: false, first_id, last_id };
      return exchange.answer({ status: 200, body });
    }
    const named = method === 'GET' ? models.find(({ id }) => path === `/v1/models/${id}`) : undefined;
    if (named !== undefined) return exchange.answer({ status: 200, body: named });
    throw new RequestRefused('Not found', 404);
  }

  return modelProvider(first, {
    name: 'anthropic',
    // The official client says it the one way, documents the other.
    keyOf({ headers }) {
      const key = headers['x-api-key'] ?? headers.authorization?.replace(/^Bearer /, '');
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

/** An event of another answer's block, with other words. */
function foreignEvent(message: Message): Message {
  if (typeof message !== 'string' || !message.startsWith('event: ')) return message;
  const delta = { type: 'text_delta', text: ' elsewhere' };
  return `event: content_block_delta\ndata: ${JSON.stringify({ type: 'content_block_delta', index: 7, delta })}\n\n`;
}
