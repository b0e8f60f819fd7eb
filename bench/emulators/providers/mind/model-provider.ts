/**
 * What emulated providers of models have in common: a scenario, which an operator may change while they run, and a
 * journal of what was refused and what was answered. Each has its own routes, words and errors.
 */
import type { Answer as HttpAnswer, HttpExchange, Provider } from '../provider.ts';
import type { AskedQuestion } from './question.ts';
import { type Answer, answerTo } from './rules.ts';
import { parseScenario, type Scenario } from './scenario.ts';

export interface RefusedRequest {
  status: number;
  message: string;
  answer: HttpAnswer;
}

export interface ModelRoutes extends Pick<Provider, 'name' | 'keyOf' | 'unauthorized' | 'failure' | 'foreign'> {
  /** Answers it. Throws what `refusalOf` knows. */
  route(exchange: HttpExchange, scenario: Scenario): Promise<void>;
  /** Null: it is no refusal, but a fault of the emulator. */
  refusalOf(error: unknown): RefusedRequest | null;
}

export function modelProvider(first: Scenario, { route, refusalOf, ...provider }: ModelRoutes): Provider {
  let scenario = first;
  return {
    ...provider,
    // It has no sockets.
    revoked() {},
    control(order, body) {
      if (order !== 'POST /emulator/scenario') return null;
      scenario = parseScenario(body);
      return { rules: scenario.rules.length };
    },
    async request(exchange) {
      try {
        await route(exchange, scenario);
      } catch (error) {
        const refused = refusalOf(error);
        if (refused === null) throw error;
        exchange.note('refused', { status: refused.status, message: refused.message });
        exchange.answer(refused.answer);
      }
    },
  };
}

/** What the scenario answers, noted in the journal. */
export function answerAndNote(
  exchange: HttpExchange,
  scenario: Scenario,
  request: AskedQuestion & { rawMessages: unknown[]; maxTokens: number },
  promptTokens: number,
): Answer {
  const answer = answerTo(scenario, request);
  exchange.note('answered', {
    rule: answer.rule,
    model: request.model,
    maxTokens: request.maxTokens,
    promptTokens,
    text: answer.text,
    calls: answer.calls,
    messages: request.rawMessages,
  });
  return answer;
}
