import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { UsageLine } from '../../../media/contract/usage.ts';
import { OperatorError } from '../../../src/errors/operator-error.ts';
import { type CallCost, costsOf, writeUsage } from '../../../src/usage/call-usage.ts';
import { listPrices, setPrice, type WantedPrice } from '../../../src/usage/prices.ts';
import { createWorkspaceKit, type WorkspaceKit } from '../connections/workspace-kit.ts';

let kit: WorkspaceKit;
let callUuid: string;
let lines = 0;
beforeAll(async () => {
  kit = await createWorkspaceKit();
  callUuid = await kit.call(kit.acme);
});
afterEach(async () => {
  await kit.database.query('DELETE FROM call_usage');
  await kit.database.query('DELETE FROM provider_prices');
});
afterAll(() => kit.close());

const line = (change: Partial<UsageLine> = {}): UsageLine => ({
  usageId: `u${lines++}`,
  turnId: 't1',
  connection: 'brain',
  version: 1,
  provider: 'openai_compatible',
  model: 'm-1',
  unit: 'input_tokens',
  quantity: 1_500,
  speculative: false,
  ...change,
});
const write = (...written: UsageLine[]) => writeUsage(kit.database, [{ callUuid, lines: written }]);
const price = (change: Partial<WantedPrice> = {}) =>
  setPrice(kit.database, {
    provider: 'openai_compatible',
    model: 'm-1',
    unit: 'input_tokens',
    priceMicros: 400,
    currency: 'USD',
    effectiveAt: new Date(Date.now() - 3_600_000),
    ...change,
  });
const cost = async (): Promise<CallCost | undefined> =>
  (await costsOf(kit.database, kit.acme, [callUuid])).get(callUuid);

describe('the cost of a call', () => {
  it('is nothing where nothing was used, and no amount where nothing has a price', async () => {
    expect(await cost()).toBeUndefined();
    await write(line());
    expect(await cost()).toEqual({
      currency: null,
      total: null,
      isComplete: false,
      items: [],
      usage: [
        {
          connection: 'brain',
          version: 1,
          provider: 'openai_compatible',
          model: 'm-1',
          unit: 'input_tokens',
          quantity: 1_500,
          speculative: 0,
          isEstimate: false,
          amount: null,
        },
      ],
    });
  });

  it('adds up what was used, by kind, and what was thrown away too', async () => {
    await price();
    await price({ unit: 'output_tokens', priceMicros: 1_600 });
    await price({ provider: 'deepgram', model: 'nova-3', unit: 'listen_seconds', priceMicros: 128.333333 });
    await price({ provider: 'elevenlabs', model: '*', unit: 'characters', priceMicros: 50_000 });
    await write(
      line({ quantity: 1_000 }),
      line({ quantity: 500, speculative: true, turnId: null }),
      line({ unit: 'output_tokens', quantity: 250 }),
      line({ connection: 'ear', provider: 'deepgram', model: 'nova-3', unit: 'listen_seconds', quantity: 60 }),
      line({ connection: 'voice', provider: 'elevenlabs', model: 'flash', unit: 'characters', quantity: 123 }),
    );
    const made = (await cost())!;
    expect(made.items.toSorted((left, right) => (left.kind < right.kind ? -1 : 1))).toEqual([
      { kind: 'llm', amount: 0.001 },
      { kind: 'stt', amount: 0.0077 },
      { kind: 'tts', amount: 0.00615 },
    ]);
    expect(made).toMatchObject({ currency: 'USD', total: 0.01485, isComplete: true });
    expect(made.usage.find(({ unit }) => unit === 'input_tokens')).toMatchObject({
      quantity: 1_500,
      speculative: 500,
      isEstimate: true,
      amount: 0.0006,
    });
  });

  it('is made at the price that held when it was used: a later one changes nothing, one from the past does', async () => {
    await price();
    await write(line({ quantity: 1_000 }));
    await price({ priceMicros: 900, effectiveAt: new Date(Date.now() + 3_600_000) });
    expect((await cost())?.total).toBe(0.0004);
    await price({ priceMicros: 800, effectiveAt: new Date(Date.now() - 60_000) });
    expect((await cost())?.total).toBe(0.0008);
    await price({ priceMicros: null, effectiveAt: undefined });
    expect((await cost())?.total).toBe(0.0008);
    await write(line({ quantity: 1_000 }));
    expect(await cost()).toMatchObject({ total: 0.0008, isComplete: false });
  });

  it("takes a model's own price before that of all models", async () => {
    await price({ model: '*', priceMicros: 1_000 });
    await write(line({ quantity: 1_000 }), line({ model: 'm-2', quantity: 1_000 }));
    expect((await cost())?.total).toBe(0.002);
    await price({ model: 'm-2', priceMicros: 5_000 });
    expect((await cost())?.total).toBe(0.006);
  });

  it('counts a line once, however often it is told, and none of a call that there is not', async () => {
    const told = line();
    expect(await write(told, told)).toBe(1);
    expect(await write(told, line())).toBe(1);
    expect(
      await writeUsage(kit.database, [{ callUuid: '00000000-0000-7000-8000-000000000000', lines: [line()] }]),
    ).toBe(0);
    expect(await write(line({ quantity: -1 }), line({ quantity: Number.NaN }), line({ usageId: '' }))).toBe(0);
    expect((await cost())?.usage[0]?.quantity).toBe(3_000);
    expect((await costsOf(kit.database, kit.other, [callUuid])).size).toBe(0);
  });
});

describe('the price table', () => {
  it('is empty at first, shows what holds and what will, and keeps what held', async () => {
    expect(await listPrices(kit.database)).toEqual([]);
    await price({ priceMicros: 1 });
    await price({ priceMicros: 2, effectiveAt: new Date(Date.now() - 1_000) });
    await price({ priceMicros: 3, effectiveAt: new Date(Date.now() + 3_600_000) });
    const shown = async (history: boolean) =>
      (await listPrices(kit.database, { history })).map(({ version, priceMicros }) => [version, priceMicros]);
    expect(await shown(false)).toEqual([
      [2, 2],
      [3, 3],
    ]);
    expect(await shown(true)).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
    await price({ priceMicros: null, effectiveAt: undefined });
    expect(await shown(false)).toEqual([[3, 3]]);
    const audited = await kit.database.query<{ action: string }>(
      `SELECT action FROM audit_log WHERE target = 'price:openai_compatible/m-1/input_tokens' ORDER BY id DESC LIMIT 1`,
    );
    expect(audited).toEqual([{ action: 'price.removed' }]);
  });

  it('is in one currency: the first says which', async () => {
    await expect(price({ currency: undefined })).rejects.toThrow('`currency` is missing');
    await price({ currency: 'EUR' });
    expect((await price({ currency: undefined, unit: 'output_tokens' })).currency).toBe('EUR');
    await expect(price()).rejects.toThrow('The prices are in EUR');
    await price({ currency: 'EUR', priceMicros: null, effectiveAt: undefined });
    await price({ currency: 'EUR', unit: 'output_tokens', priceMicros: null, effectiveAt: undefined });
    expect((await price({ effectiveAt: undefined })).currency).toBe('USD');
  });

  const faults: [Partial<WantedPrice>, string][] = [
    [
      { provider: 'whisper' },
      'there are: deepgram, assemblyai, openai_compatible, anthropic, gemini, cartesia, elevenlabs',
    ],
    [{ model: ' ' }, '`model` must be 1 to 120'],
    [{ unit: 'minutes' }, 'there are: listen_seconds'],
    [{ priceMicros: -1 }, '`priceMicros` must be a number from 0'],
    [{ priceMicros: Number.NaN }, '`priceMicros` must be a number from 0'],
    [{ currency: 'usd' }, 'three capital letters'],
    [{ effectiveAt: new Date('x') }, '`effectiveAt` must be a time'],
  ];
  it.each(faults.map(([change, words]) => [Object.keys(change).join(), words, change] as const))(
    'refuses a wrong %s: %s',
    async (_at, words, change) => {
      const refused = price(change);
      await expect(refused).rejects.toThrow(OperatorError);
      await expect(refused).rejects.toThrow(words);
    },
  );
});
