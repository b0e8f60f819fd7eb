import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { recordCallEvent } from '../../../bench/harness/record-call-event.ts';
import { subscribe } from '../../../src/webhooks/endpoint.ts';
import type { OptInEvent } from '../../../src/webhooks/events.ts';
import { recordWorkspaceEvent } from '../../../src/webhooks/outbox.ts';
import { answered, createDeliveryBench, type DeliveryBench } from './delivery-bench.ts';
import { sampleCall, WORKSPACE_ID } from './sample-call.ts';

let bench: DeliveryBench;
beforeAll(async () => {
  bench = await createDeliveryBench();
});
afterAll(() => bench?.close());
beforeEach(() => bench.reset());

const bodies = async (): Promise<Record<string, unknown>[]> =>
  (await bench.db.query<{ body: string }>('SELECT body FROM webhook_events ORDER BY created_at, sequence')).map((row) =>
    JSON.parse(row.body),
  );
const record = (event: Parameters<typeof recordCallEvent>[2]) =>
  bench.db.transaction((tx) => recordCallEvent(tx, sampleCall(), event, {}, bench.clock));

describe('opt-in events', () => {
  it('are neither stored nor numbered while nobody asked for them: the terminal event is number 1', async () => {
    expect(await record('call.ringing')).toEqual([]);
    expect(await record('call.answered')).toEqual([]);
    await record('call.completed');
    expect((await bodies()).map(({ event, sequence }) => [event, sequence])).toEqual([['call.completed', 1]]);
  });

  it('come in the order of the call once subscribed, with their times and the five keys of the specification', async () => {
    await subscribe(bench.db, WORKSPACE_ID, ['call.ringing', 'call.answered']);
    for (const event of ['call.ringing', 'call.answered', 'call.completed'] as const) {
      expect(await record(event)).toHaveLength(1);
    }
    const [ringing, answeredBody, completed] = await bodies();
    const nulls = { transcript: null, intent: null, summary: null };
    expect(ringing).toMatchObject({
      event: 'call.ringing',
      sequence: 1,
      ringingAt: '2026-11-21T01:04:16.000Z',
      ...nulls,
    });
    expect(answeredBody).toMatchObject({
      event: 'call.answered',
      sequence: 2,
      ringSeconds: 6.2,
      answeredBy: 'human',
      ...nulls,
    });
    expect(completed).toMatchObject({ event: 'call.completed', sequence: 3 });
  });

  it('are what was subscribed last, and nothing else', async () => {
    await subscribe(bench.db, WORKSPACE_ID, ['call.ringing']);
    await subscribe(bench.db, WORKSPACE_ID, ['call.answered']);
    expect(await record('call.ringing')).toEqual([]);
    expect(await record('call.answered')).toHaveLength(1);
    expect(await subscribe(bench.db, '0199f0a0-0000-7000-8000-0000000000ff', ['call.ringing'])).toBe(false);
  });

  it('webhook.test is sent without a subscription, tried once, and no failure of the receiver', async () => {
    const told = { workspaceId: WORKSPACE_ID, enterprise: 'acme', event: 'webhook.test', fields: {} } as const;
    const [id] = await bench.db.transaction((tx) => recordWorkspaceEvent(tx, told, bench.clock));
    bench.answer(() => answered(410));
    expect(await bench.attempt(id!)).toBe('failed');
    expect(await bench.row(id!)).toMatchObject({ state: 'dead', attempts: 1, last_status: 410 });
    expect(bench.retries).toEqual([]);
    const [endpoint] = await bench.db.query(
      'SELECT disabled_at, failures_since_success AS failures FROM webhook_endpoints',
    );
    expect(endpoint).toEqual({ disabled_at: null, failures: 0 });
  });

  it('that do not exist cannot be stored', async () => {
    await subscribe(bench.db, WORKSPACE_ID, ['call.exploded' as OptInEvent, 'call.ringing']);
    const [row] = await bench.db.query<{ events: string[] }>('SELECT events FROM webhook_endpoints');
    expect(row?.events).toEqual(['call.ringing']);
  });
});
