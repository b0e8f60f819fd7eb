import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createRandom } from '../../../bench/harness/seeded-random.ts';
import { createSealer } from '../../../src/sealing/sealer.ts';
import { CLAIM_MS } from '../../../src/webhooks/claim-time.ts';
import { rotateSecret, setEndpoint } from '../../../src/webhooks/endpoint.ts';
import { MAX_ATTEMPTS, RETRY_DELAYS_MS } from '../../../src/webhooks/retry-schedule.ts';
import { answered, createDeliveryBench, type DeliveryBench } from './delivery-bench.ts';
import { WORKSPACE_ID } from './sample-call.ts';

let bench: DeliveryBench;
beforeAll(async () => {
  bench = await createDeliveryBench(createRandom(42));
});
afterAll(() => bench?.close());
beforeEach(() => bench.reset());

describe('one attempt', () => {
  it('sends the stored bytes with the headers of the contract, and the row says delivered', async () => {
    const id = await bench.record('call.completed');
    expect(await bench.attempt(id)).toBe('delivered');
    const [request] = bench.sent;
    const [event] = await bench.db.query<{ id: string; body: string }>('SELECT id, body FROM webhook_events');
    expect(request).toMatchObject({ url: 'https://example.com/hooks', method: 'POST' });
    expect(request?.body.toString('utf8')).toBe(event?.body);
    expect(request?.headers).toEqual({
      'content-type': 'application/json',
      'user-agent': 'Parley-Webhooks/1',
      'x-delivery-attempt': '1',
      'webhook-id': event?.id,
      'webhook-timestamp': String(Math.floor(bench.clock.epochMs() / 1_000)),
      'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    });
    expect(await bench.row(id)).toMatchObject({
      state: 'delivered',
      attempts: 1,
      last_status: 200,
      last_error: null,
      claimed_until: null,
      delivered_at: new Date(bench.clock.epochMs()),
    });
  });

  it('is signed so that the standardwebhooks package accepts it, by both secrets while a rotation runs', async () => {
    bench.clock.setEpochMs(Date.now());
    const rotated = await rotateSecret(bench.db, createSealer('ab'.repeat(32)), WORKSPACE_ID);
    const id = await bench.record('call.completed');
    await bench.attempt(id);
    const { headers, body } = bench.sent[0]!;
    for (const secret of [bench.secret, rotated.secret]) {
      expect(new Webhook(secret).verify(body.toString('utf8'), { ...headers })).toMatchObject({
        event: 'call.completed',
      });
    }
    bench.clock.setEpochMs(Date.now() + 24 * 3_600_000 + 1_000);
    const later = await bench.record('recording.ready');
    await bench.attempt(later);
    expect(bench.sent[1]?.headers['webhook-signature']?.split(' ')).toHaveLength(1);
  });

  it('is made by one of ten that want it at once', async () => {
    const id = await bench.record('call.completed');
    const results = await Promise.all(Array.from({ length: 10 }, () => bench.attempt(id)));
    expect(results.filter((result) => result === 'delivered')).toHaveLength(1);
    expect(results.filter((result) => result === 'skipped')).toHaveLength(9);
    expect(bench.sent).toHaveLength(1);
  });

  it('is not made before its time', async () => {
    bench.answer(() => answered(500));
    const id = await bench.record('call.completed');
    await bench.attempt(id);
    bench.clock.advanceMs(bench.retries[0]!.afterMs - 1);
    expect(await bench.attempt(id)).toBe('skipped');
    bench.clock.advanceMs(1);
    expect(await bench.attempt(id)).toBe('failed');
    expect(bench.sent).toHaveLength(2);
  });

  it.each([200, 201, 204, 299])('takes %i as delivered', async (status) => {
    bench.answer(() => answered(status));
    expect(await bench.attempt(await bench.record('call.completed'))).toBe('delivered');
  });

  it.each([301, 302, 307, 400, 401, 404, 429, 500, 503])('takes %i as a failure that is retried', async (status) => {
    bench.answer(() => answered(status, { body: 'what the\nreceiver said' }));
    const id = await bench.record('call.completed');
    expect(await bench.attempt(id)).toBe('failed');
    expect(await bench.row(id)).toMatchObject({
      state: 'pending',
      attempts: 1,
      last_status: status,
      last_error: `answered ${status}: what the receiver said`,
      claimed_until: null,
    });
    expect(bench.retries).toHaveLength(1);
  });

  it.each([
    [{ kind: 'failed', reason: 'no answer within 3000 ms' } as const],
    [{ kind: 'refused', reason: 'leads to a private address' } as const],
  ])('takes %j as a failure that is retried, with the reason in the row', async (result) => {
    bench.answer(() => result);
    const id = await bench.record('call.completed');
    expect(await bench.attempt(id)).toBe('failed');
    expect(await bench.row(id)).toMatchObject({ state: 'pending', last_status: null, last_error: result.reason });
  });
});

describe('retries, on a virtual clock', () => {
  it('are 12 attempts with the pauses of the schedule ± 20 %, freshly signed under one id, and then dead', async () => {
    bench.answer(() => answered(500));
    const id = await bench.record('call.completed');
    const startedAtMs = bench.clock.nowMs();
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      expect(await bench.attempt(id)).toBe('failed');
      const pauseMs = bench.retries[attempt - 1]?.afterMs;
      if (attempt === MAX_ATTEMPTS) break;
      expect(pauseMs).toBeGreaterThanOrEqual(RETRY_DELAYS_MS[attempt - 1]! * 0.8);
      expect(pauseMs).toBeLessThanOrEqual(RETRY_DELAYS_MS[attempt - 1]! * 1.2);
      bench.clock.advanceMs(pauseMs!);
    }
    expect(bench.retries).toHaveLength(11);
    expect(await bench.row(id)).toMatchObject({ state: 'dead', attempts: 12, last_status: 500, delivered_at: null });
    bench.clock.advanceMs(48 * 3_600_000);
    expect(await bench.attempt(id)).toBe('skipped');
    const hours = (bench.clock.nowMs() - startedAtMs) / 3_600_000 - 48;
    expect(hours).toBeGreaterThan(75.7 * 0.8);
    expect(hours).toBeLessThan(75.7 * 1.2);
    const headers = bench.sent.map((request) => request.headers);
    expect(headers.map((each) => each['x-delivery-attempt'])).toEqual(Array.from({ length: 12 }, (_, n) => `${n + 1}`));
    expect(new Set(headers.map((each) => each['webhook-id'])).size).toBe(1);
    expect(new Set(headers.map((each) => each['webhook-signature'])).size).toBe(12);
  });

  it.each([
    [429, '60', 60_000],
    [503, '60', 60_000],
    [503, '86400', 3_600_000],
    [500, '60', null],
    [429, 'soon', null],
  ])('%i with Retry-After %s: next after %j ms (null: as scheduled)', async (status, retryAfter, expected) => {
    bench.answer(() => answered(status, { retryAfter }));
    const id = await bench.record('call.completed');
    await bench.attempt(id);
    const { afterMs } = bench.retries[0]!;
    if (expected === null) expect(afterMs).toBeLessThanOrEqual(6_000);
    else expect(afterMs).toBe(expected);
    expect((await bench.row(id)).next_at.getTime()).toBe(bench.clock.epochMs() + afterMs);
  });

  it('410 disables the endpoint; what waits goes to the URL that is set next', async () => {
    bench.answer(() => answered(410));
    const first = await bench.record('call.completed');
    expect(await bench.attempt(first)).toBe('failed');
    expect(bench.retries).toEqual([]);
    const later = await bench.record('recording.ready');
    bench.clock.advanceMs(6_000);
    for (const id of [first, later]) expect(await bench.attempt(id)).toBe('skipped');
    expect(await bench.store.due(bench.clock.epochMs(), 100)).toEqual([]);
    bench.answer(() => answered(200));
    await setEndpoint(bench.db, createSealer('ab'.repeat(32)), WORKSPACE_ID, 'https://example.org/new');
    expect((await bench.store.due(bench.clock.epochMs(), 100)).map((due) => due.id)).toEqual([first, later]);
    for (const id of [first, later]) expect(await bench.attempt(id)).toBe('delivered');
    expect(bench.sent.at(-1)?.url).toBe('https://example.org/new');
  });

  it('410 of an old URL does not disable the new one that was set meanwhile', async () => {
    bench.answer(async () => {
      await setEndpoint(bench.db, createSealer('ab'.repeat(32)), WORKSPACE_ID, 'https://example.org/new');
      return answered(410);
    });
    await bench.attempt(await bench.record('call.completed'));
    expect(await bench.db.query('SELECT disabled_at FROM webhook_endpoints')).toEqual([{ disabled_at: null }]);
  });
});

describe('a crash', () => {
  it('between the answer and the note: the claim runs out, the sweep finds the row, the same id is sent again', async () => {
    const id = await bench.record('call.completed');
    // The process dies here: claimed, answered 200, nothing noted.
    expect(await bench.store.claim(id, bench.clock.epochMs())).not.toBeNull();
    bench.clock.advanceMs(CLAIM_MS - 1);
    expect(await bench.attempt(id)).toBe('skipped');
    expect(await bench.store.due(bench.clock.epochMs(), 100)).toEqual([]);
    bench.clock.advanceMs(1);
    const due = await bench.store.due(bench.clock.epochMs(), 100);
    expect(due.map((each) => each.id)).toEqual([id]);
    expect(await bench.attempt(id)).toBe('delivered');
    const [event] = await bench.db.query<{ id: string }>('SELECT id FROM webhook_events');
    expect(bench.sent[0]?.headers).toMatchObject({ 'webhook-id': event?.id, 'x-delivery-attempt': '1' });
  });

  it('does not let a late failure overwrite what a second process did after the claim ran out', async () => {
    const id = await bench.record('call.completed');
    bench.answer(async () => {
      bench.clock.advanceMs(CLAIM_MS);
      bench.answer(() => answered(200));
      expect(await bench.attempt(id)).toBe('delivered');
      return answered(500);
    });
    await bench.attempt(id);
    expect(await bench.row(id)).toMatchObject({ state: 'delivered', attempts: 1, last_status: 200 });
    expect(bench.retries).toEqual([]);
  });
});

describe('the order of a call', () => {
  it('holds the first attempt of event n + 1 until that of event n has ended, and then offers it', async () => {
    const first = await bench.record('call.completed');
    const second = await bench.record('recording.ready');
    expect(await bench.attempt(second)).toBe('skipped');
    bench.answer(async () => {
      expect(await bench.attempt(second)).toBe('skipped');
      return answered(500);
    });
    expect(await bench.attempt(first)).toBe('failed');
    expect(bench.next.map((due) => due.id)).toEqual([second]);
    bench.answer(() => answered(200));
    // The first event waits for its retry; that does not hold the second.
    expect(await bench.attempt(second)).toBe('delivered');
    expect(await bench.row(first)).toMatchObject({ state: 'pending', attempts: 1 });
  });

  it('does not hold a retry, whatever else of the call waits', async () => {
    const first = await bench.record('call.completed');
    const second = await bench.record('recording.ready');
    bench.answer(() => answered(500));
    for (const id of [first, second]) await bench.attempt(id);
    // An operator has the first event sent anew.
    await bench.db.query('UPDATE webhook_deliveries SET attempts = 0 WHERE id = $1', [first]);
    bench.clock.advanceMs(6_000);
    expect(await bench.attempt(second)).toBe('failed');
    expect((await bench.row(second)).attempts).toBe(2);
  });

  it('names only the next event, not all that wait', async () => {
    const ids = [await bench.record('call.completed'), await bench.record('recording.ready')];
    ids.push(await bench.record('analysis.completed'));
    await bench.attempt(ids[0]!);
    await bench.attempt(ids[1]!);
    await bench.attempt(ids[2]!);
    expect(bench.next.map((due) => due.id)).toEqual([ids[1], ids[2]]);
    const sequences = bench.sent.map((request) => JSON.parse(request.body.toString('utf8')).sequence);
    expect(sequences).toEqual([1, 2, 3]);
  });
});
