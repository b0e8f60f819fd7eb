/**
 * The emulated Anthropic: Messages that a scenario answers, and the list of models. Started by tests in their process,
 * and by `main.ts`. The official client judges it (`test/integration/emulators/anthropic.test.ts`).
 */
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
  let scenario = first;
  const models = () => scenario.models.map((id) => ({ id, type: 'model', display_name: id, created_at: RELEASED }));

  async function route(exchange: HttpExchange): Promise<void> {
    const { method, path } = exchange;
    if (method === 'POST' && path === '/v1/messages') return answerMessages(exchange, scenario);
    if (method === 'GET' && path === '/v1/models') {
      const data = models();
      const body = { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
      return exchange.answer({ status: 200, body });
    }
    const named = method === 'GET' ? models().find(({ id }) => path === `/v1/models/${id}`) : undefined;
    if (named !== undefined) return exchange.answer({ status: 200, body: named });
    throw new RequestRefused('Not found', 404);
  }

  return {
    name: 'anthropic',
    // The official client says it the one way, documents the other.
    keyOf({ headers }) {
      const key = headers['x-api-key'] ?? headers.authorization?.replace(/^Bearer /, '');
      return typeof key === 'string' ? key : null;
    },
    unauthorized: (_request, key) => unauthorizedAnswer(key),
    failure: (_request, status) => errorAnswer(status),
    // It has no sockets.
    revoked() {},
    foreign: foreignEvent,
    control(route, body) {
      if (route !== 'POST /emulator/scenario') return null;
      scenario = parseScenario(body);
      return { rules: scenario.rules.length };
    },
    async request(exchange) {
      try {
        await route(exchange);
      } catch (error) {
        if (!(error instanceof RequestRefused)) throw error;
        exchange.note('refused', { status: error.status, message: error.message });
        exchange.answer(errorAnswer(error.status, error.message));
      }
    },
  };
}

/** An event of another answer's block, with other words. */
function foreignEvent(message: Message): Message {
  if (typeof message !== 'string' || !message.startsWith('event: ')) return message;
  const delta = { type: 'text_delta', text: ' elsewhere' };
  return `event: content_block_delta\ndata: ${JSON.stringify({ type: 'content_block_delta', index: 7, delta })}\n\n`;
}
