/**
 * What the models of a call have used, against what they may: tokens, and US dollars by the prices of the agent. Pure.
 */
import type { CascadeAgent } from '../../contract/agent-definition.ts';
import type { ModelUsage } from '../../contract/model.ts';

const MOST_TOKENS = 400_000;

export class Spending {
  tokens = 0;
  costUsd = 0;
  readonly #definition: Pick<CascadeAgent, 'think' | 'limits'>;

  constructor(definition: Pick<CascadeAgent, 'think' | 'limits'>) {
    this.#definition = definition;
  }

  used(model: number, { inputTokens, cachedInputTokens, outputTokens }: ModelUsage): void {
    this.tokens += inputTokens + outputTokens;
    const price = this.#definition.think[model]?.price;
    if (price === undefined) return;
    const { input, cachedInput = input, output } = price;
    const fresh = Math.max(0, inputTokens - cachedInputTokens);
    this.costUsd += (fresh * input + cachedInputTokens * cachedInput + outputTokens * output) / 1e6;
  }

  get isTooDear(): boolean {
    const { tokens = MOST_TOKENS, costUsd = Number.POSITIVE_INFINITY } = this.#definition.limits ?? {};
    return this.tokens >= tokens || this.costUsd >= costUsd;
  }
}
