/** The prices by which an agent's limit of dollars is held: the operator's, and its own where there is none. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { CascadeAgent } from '../../../media/contract/agent-definition.ts';
import { importAgent } from '../../../src/agents/stored-agents.ts';
import { addConnection } from '../../../src/connections/stored-connections.ts';
import { withTablePrices } from '../../../src/usage/agent-prices.ts';
import { setPrice } from '../../../src/usage/prices.ts';
import { createWorkspaceKit, type WorkspaceKit } from '../connections/workspace-kit.ts';
import { conversingAgent } from '../media/agents/cascade/agent-bench.ts';

let kit: WorkspaceKit;
beforeAll(async () => {
  kit = await createWorkspaceKit();
});
afterEach(() => kit.database.query('DELETE FROM provider_prices'));
afterAll(() => kit.close());

const OWN = { input: 9, output: 9 };
const GRANTS = ['primary', 'backup'].map((name) => ({ name, provider: 'openai_compatible' }));
const agent = (costUsd?: number): CascadeAgent =>
  conversingAgent({
    think: [
      { connection: 'primary', model: 'big', price: OWN },
      { connection: 'backup', model: 'small', price: OWN },
    ],
    ...(costUsd === undefined ? {} : { limits: { costUsd } }),
  });
const price = (model: string, unit: string, priceMicros: number, currency = 'USD', inMs = -1_000) =>
  setPrice(kit.database, {
    provider: 'openai_compatible',
    model,
    unit,
    priceMicros,
    currency,
    effectiveAt: new Date(Date.now() + inMs),
  });
const pricesOf = async (of: CascadeAgent) =>
  ((await withTablePrices(kit.database, of, GRANTS, Date.now())) as CascadeAgent).think.map((entry) => entry.price);

it('the table outranks the agent, per million tokens; a model’s own price outranks that of all', async () => {
  await price('*', 'input_tokens', 500);
  await price('*', 'output_tokens', 4_000);
  await price('big', 'input_tokens', 2_000);
  await price('big', 'cached_input_tokens', 200);
  expect(await pricesOf(agent(1))).toEqual([
    { input: 2, cachedInput: 0.2, output: 4 },
    { input: 0.5, output: 4 },
  ]);
});

it('the newest price that holds already counts', async () => {
  for (const unit of ['input_tokens', 'output_tokens']) {
    await price('*', unit, 1_000, 'USD', -60_000);
    await price('*', unit, 3_000, 'USD', -30_000);
    await price('*', unit, 7_000, 'USD', 60_000);
  }
  expect((await pricesOf(agent(1)))[0]).toEqual({ input: 3, output: 3 });
});

it('where the table has none, half of one, or another currency, the agent’s own holds', async () => {
  expect(await pricesOf(agent(1))).toEqual([OWN, OWN]);
  await price('*', 'input_tokens', 500);
  expect(await pricesOf(agent(1))).toEqual([OWN, OWN]);
  await kit.database.query('DELETE FROM provider_prices');
  await price('*', 'input_tokens', 500, 'EUR');
  await price('*', 'output_tokens', 500, 'EUR');
  expect(await pricesOf(agent(1))).toEqual([OWN, OWN]);
});

it('an agent without such a limit is left as it is', async () => {
  await price('*', 'input_tokens', 500);
  await price('*', 'output_tokens', 500);
  const whole = agent();
  expect(await withTablePrices(kit.database, whole, GRANTS, Date.now())).toBe(whole);
});

it('an agent with such a limit is stored where each model has a price, its own or the table’s; else the fault says what to do', async () => {
  for (const name of ['primary', 'backup']) {
    const provider = 'openai_compatible';
    const where = { baseUrl: 'https://models.example.com/v1', credentials: { apiKey: 'key' } };
    await addConnection(kit.database, kit.sealer, { slug: 'acme', name, provider, ...where });
  }
  const think = [
    { connection: 'primary', model: 'big', price: OWN },
    { connection: 'backup', model: 'small' },
  ];
  const definition = conversingAgent({ think, limits: { costUsd: 1 } });
  const stored = () => importAgent(kit.database, { slug: 'acme', definition });
  await price('small', 'input_tokens', 500);
  await expect(stored()).rejects.toThrow(
    "think[1].price: is missing, and limits.costUsd needs it; write US dollars a million tokens, or have the operator price the input and output tokens of 'small' of openai_compatible in USD: parley price set",
  );
  await price('small', 'output_tokens', 500);
  await expect(stored()).resolves.toMatchObject({ name: definition.name });
});
