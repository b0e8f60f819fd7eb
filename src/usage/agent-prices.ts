/**
 * What the models of an agent cost by the operator's price table, for the agent's limit of dollars: the same prices by
 * which the call's cost is counted afterwards. Where the table has none for a model, or is in another currency, what
 * the agent says of its price holds. Called where a stream is claimed.
 */
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import type { ConnectionGrant } from '../../media/contract/grant.ts';
import { USAGE_UNITS, type UsageUnit } from '../../media/contract/usage.ts';
import type { Queryable } from '../store/database.ts';
import { listPrices, type Price } from './prices.ts';

/** The limit of an agent is in it. */
const LIMIT_CURRENCY = 'USD';

/** The agent with the prices in `think` that the table has at that time. */
export async function withTablePrices(
  database: Queryable,
  agent: AgentDefinition,
  grants: readonly Pick<ConnectionGrant, 'name' | 'provider'>[] | undefined,
  atEpochMs: number,
): Promise<AgentDefinition> {
  if (agent.kind !== 'cascade' || agent.limits?.costUsd === undefined || grants === undefined) return agent;
  const prices = (await listPrices(database, { history: true })).filter(
    ({ currency, effectiveAt }) => currency === LIMIT_CURRENCY && effectiveAt.getTime() <= atEpochMs,
  );
  const think = agent.think.map((entry) => {
    const provider = grants.find(({ name }) => name === entry.connection)?.provider;
    const price = provider === undefined ? null : priceOf(prices, provider, entry.model);
    return price === null ? entry : { ...entry, price };
  });
  return { ...agent, think };
}

/** US dollars a million tokens; null: the table does not have all of it. */
function priceOf(prices: readonly Price[], provider: string, model: string) {
  const dollars = (unit: UsageUnit): number | null => {
    // A model's own price outranks that of all the provider's models, also where its own says that it has none.
    const own = newestOf(prices, provider, model, unit) ?? newestOf(prices, provider, '*', unit);
    const micros = own?.priceMicros ?? null;
    return micros === null ? null : micros / USAGE_UNITS[unit].per;
  };
  const input = dollars('input_tokens');
  const output = dollars('output_tokens');
  const cachedInput = dollars('cached_input_tokens');
  if (input === null || output === null) return null;
  return { input, output, ...(cachedInput === null ? {} : { cachedInput }) };
}

/** They are in the order of their times and versions. */
function newestOf(prices: readonly Price[], provider: string, model: string, unit: UsageUnit): Price | undefined {
  return prices.findLast((price) => price.provider === provider && price.model === model && price.unit === unit);
}
