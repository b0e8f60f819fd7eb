import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CLAIM_MS, START_WITHIN_MS } from '../../../src/webhooks/claim-time.ts';
import { rememberWritten, startFirstAttempts } from '../../../src/webhooks/written.ts';
import { createDeliveryBench, type DeliveryBench } from './delivery-bench.ts';

let bench: DeliveryBench;
let busy: string[] = [];
let stop = (): void => {};
beforeAll(async () => {
  bench = await createDeliveryBench();
});
afterAll(() => bench?.close());
beforeEach(async () => {
  await bench.reset();
  busy = [];
  stop = startFirstAttempts(() => busy);
});
afterEach(() => stop());

const OTHER = { endpointId: 'other', callUuid: null, claimedUntil: null };
const OTHER_CLAIM = {
  ...{ eventId: 'evt', event: 'call.completed', body: '{}', url: 'https://other.example/', workspaceId: 'other' },
  ...{ createdAt: new Date(0), secretSealed: Buffer.alloc(0), previousSecretSealed: null, knownHealthy: true },
};
const claimedUntil = async (id: string): Promise<number | null> =>
  (await bench.row(id)).claimed_until?.getTime() ?? null;
const claimEnd = (): number => bench.clock.epochMs() + CLAIM_MS;

describe('a delivery whose first attempt starts where it was written', () => {
  it('is claimed as it is written: its attempt has all it needs and asks the database for nothing', async () => {
    const id = await bench.record('call.completed');
    expect(await claimedUntil(id)).toBe(claimEnd());
    await bench.db.query(`UPDATE webhook_endpoints SET url = 'https://elsewhere.example/'`);
    expect(await bench.attempt(id)).toBe('delivered');
    const { url, headers, body } = bench.sent[0]!;
    expect(url).toBe('https://example.com/hooks');
    bench.clock.setEpochMs(Date.now());
    const signedNow = await bench.record('recording.ready');
    await bench.attempt(signedNow);
    const signed = bench.sent[1]!;
    const text = signed.body.toString('utf8');
    expect(new Webhook(bench.secret).verify(text, { ...signed.headers })).toMatchObject({ event: 'recording.ready' });
    expect(headers['webhook-id']).toBe(JSON.parse(body.toString('utf8')).id);
    expect(await bench.row(id)).toMatchObject({ state: 'delivered', attempts: 1, claimed_until: null });
  });

  it('is offered by the sweep once the claim is over, should its process die', async () => {
    const id = await bench.record('call.completed');
    const dueAt = async (epochMs: number) => (await bench.store.due(epochMs, 10)).map((one) => one.id);
    expect(await dueAt(claimEnd() - 1)).toEqual([]);
    expect(await dueAt(claimEnd())).toEqual([id]);
  });

  it('that comes to its turn late is looked up, and sent all the same', async () => {
    const id = await bench.record('call.completed');
    bench.clock.advanceMs(START_WITHIN_MS + 1);
    await bench.db.query(`UPDATE webhook_endpoints SET url = 'https://elsewhere.example/'`);
    expect(await bench.attempt(id)).toBe('delivered');
    expect(bench.sent[0]!.url).toBe('https://elsewhere.example/');
  });

  it('is not sent late to a URL that was switched off meanwhile', async () => {
    const id = await bench.record('call.completed');
    bench.clock.advanceMs(START_WITHIN_MS + 1);
    await bench.db.query('UPDATE webhook_endpoints SET disabled_at = now()');
    expect(await bench.attempt(id)).toBe('skipped');
  });

  it('whose words were pushed out of memory by many others is sent at its turn', async () => {
    const id = await bench.record('call.completed');
    for (let other = 0; other < 501; other++) rememberWritten(`other-${other}`, OTHER, OTHER_CLAIM);
    await bench.db.query(`UPDATE webhook_endpoints SET url = 'https://elsewhere.example/'`);
    expect(await bench.attempt(id)).toBe('delivered');
    expect(bench.sent[0]!.url).toBe('https://elsewhere.example/');
  });

  it('is not claimed where its receiver is busy, or an earlier event of its call goes first', async () => {
    const first = await bench.record('call.completed');
    const second = await bench.record('recording.ready');
    expect([await claimedUntil(first), await claimedUntil(second)]).toEqual([claimEnd(), null]);
    await bench.reset();
    const [endpoint] = await bench.db.query<{ id: string }>('SELECT id FROM webhook_endpoints');
    busy = [endpoint!.id];
    expect(await claimedUntil(await bench.record('call.completed'))).toBeNull();
  });
});
