import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSealer } from '../../../src/sealing/sealer.ts';
import { listDeliveries } from '../../../src/webhooks/delivery-log.ts';
import { enableEndpoint, noticeOf, readEndpoint, removeEndpoint, setEndpoint } from '../../../src/webhooks/endpoint.ts';
import { answered, createDeliveryBench, type DeliveryBench } from './delivery-bench.ts';
import { insertCall, sampleCall, WORKSPACE_ID } from './sample-call.ts';

const DAY_MS = 24 * 3_600_000;
let bench: DeliveryBench;
beforeAll(async () => {
  bench = await createDeliveryBench();
});
afterAll(() => bench?.close());
beforeEach(() => bench.reset());

const endpoint = async () => (await readEndpoint(bench.db, WORKSPACE_ID))!;

/** `count` failed attempts, each of a delivery of its own, one right after another. */
async function fail(count: number): Promise<string[]> {
  bench.answer(() => answered(500));
  const ids: string[] = [];
  for (let index = 0; index < count; index++) {
    const id = await bench.record('recording.ready');
    // The order of a call is no matter here.
    await bench.attempt(id);
    ids.push(id);
  }
  return ids;
}

describe('a receiver that fails', () => {
  it('is off after 5 days and 100 failures, not after 99, nor a ms before the fifth day', async () => {
    await fail(98);
    bench.clock.advanceMs(5 * DAY_MS - 1);
    await fail(1);
    expect(await endpoint()).toMatchObject({ disabledAt: null, failuresSinceSuccess: 99 });
    await fail(1);
    expect(await endpoint()).toMatchObject({ disabledAt: null, failuresSinceSuccess: 100 });
    bench.clock.advanceMs(1);
    await fail(1);
    const off = await endpoint();
    expect(off).toMatchObject({ disabledReason: 'failing', disabledAt: new Date(bench.clock.epochMs()) });
    expect(noticeOf(off)).toContain('no attempt succeeded for five days');
  });

  it('is not off after 5 days with 99 failures', async () => {
    await fail(98);
    bench.clock.advanceMs(6 * DAY_MS);
    await fail(1);
    expect(await endpoint()).toMatchObject({ disabledAt: null, failuresSinceSuccess: 99 });
  });

  it('begins to count anew with one success', async () => {
    await fail(99);
    bench.answer(() => answered(204));
    await bench.attempt(await bench.record('recording.ready'));
    expect(await endpoint()).toMatchObject({ failuresSinceSuccess: 0, failingSince: null });
    bench.clock.advanceMs(6 * DAY_MS);
    await fail(1);
    expect(await endpoint()).toMatchObject({
      disabledAt: null,
      failuresSinceSuccess: 1,
      failingSince: new Date(bench.clock.epochMs()),
      lastSuccessAt: new Date(bench.clock.epochMs() - 6 * DAY_MS),
    });
  });

  it('is judged by its days of failure, not by days in which there was nothing to send', async () => {
    bench.answer(() => answered(200));
    await bench.attempt(await bench.record('call.completed'));
    bench.clock.advanceMs(60 * DAY_MS);
    await fail(120);
    expect(await endpoint()).toMatchObject({ disabledAt: null, failuresSinceSuccess: 120 });
  });

  it('keeps its events while it is off, and gets all of them when it is enabled, also what died since', async () => {
    const first = await fail(1);
    // Its schedule ends before the fifth day: it is dead by then.
    await bench.db.query(`UPDATE webhook_deliveries SET attempts = 11 WHERE id = $1`, [first[0]]);
    bench.clock.advanceMs(4 * DAY_MS);
    bench.answer(() => answered(500));
    await bench.attempt(first[0]!);
    expect((await bench.row(first[0]!)).state).toBe('dead');
    const more = await fail(97);
    bench.clock.advanceMs(DAY_MS);
    more.push(...(await fail(1)));
    expect((await endpoint()).disabledReason).toBe('failing');
    const kept = await bench.record('recording.ready');
    expect(await bench.attempt(kept)).toBe('skipped');
    expect(await bench.store.due(bench.clock.epochMs(), 200)).toEqual([]);

    await enableEndpoint(bench.db, WORKSPACE_ID);
    expect(await endpoint()).toMatchObject({ disabledAt: null, disabledReason: null, failuresSinceSuccess: 0 });
    const due = await bench.store.due(bench.clock.epochMs(), 200);
    expect(due.map(({ id }) => id)).toEqual([...first, ...more, kept]);
    bench.answer(() => answered(200));
    for (const { id } of due) expect(await bench.attempt(id)).toBe('delivered');
    expect(bench.sent.at(-1)?.headers['x-delivery-attempt']).toBe('1');
    const headers = bench.sent.slice(-due.length)[0]?.headers;
    expect(headers?.['x-delivery-attempt']).toBe('13');
  });

  it('keeps dead what died in an earlier outage, before its last success', async () => {
    const [old] = await fail(1);
    await bench.db.query(`UPDATE webhook_deliveries SET state = 'dead', dead_at = $2 WHERE id = $1`, [
      old,
      new Date(bench.clock.epochMs()),
    ]);
    bench.answer(() => answered(200));
    await bench.attempt(await bench.record('recording.ready'));
    bench.clock.advanceMs(1_000);
    bench.answer(() => answered(410));
    await bench.attempt(await bench.record('recording.ready'));
    expect(await endpoint()).toMatchObject({ disabledReason: 'gone' });
    await enableEndpoint(bench.db, WORKSPACE_ID);
    expect((await bench.row(old!)).state).toBe('dead');
  });

  it('that is replaced begins with a clean slate', async () => {
    await fail(50);
    await setEndpoint(bench.db, createSealer('ab'.repeat(32)), WORKSPACE_ID, 'https://example.org/new');
    expect(await endpoint()).toMatchObject({ failuresSinceSuccess: 0, failingSince: null, waiting: 50 });
  });
});

describe('the breaker of a receiver', () => {
  const breaker = async () => (await readEndpoint(bench.db, WORKSPACE_ID))!.breaker;
  const openBreakers = () => bench.store.openBreakers(bench.clock.epochMs());

  it('is shown as closed below 20 failures in a row, then as open with the time of the next attempt and the reason', async () => {
    await fail(19);
    expect(await breaker()).toEqual({ state: 'closed', opensAt: null, reason: null });
    expect(await openBreakers()).toEqual([]);
    await fail(1);
    // The database has a clock of its own; how far the two are apart is not what is asked here.
    await bench.db.query('UPDATE webhook_endpoints SET last_failure_at = now()');
    const [row] = await bench.db.query<{ at: Date }>('SELECT last_failure_at AS at FROM webhook_endpoints');
    expect(await breaker()).toEqual({
      state: 'open',
      opensAt: new Date(row!.at.getTime() + 30_000),
      reason: '20 attempts in a row failed; the last: answered 500',
    });
    await bench.db.query(`UPDATE webhook_endpoints SET last_failure_at = now() - interval '31 s'`);
    expect((await breaker()).state).toBe('half_open');
    expect((await openBreakers()).map(({ endpointId }) => endpointId)).toHaveLength(1);
  });

  it('is closed by enabling a URL that was never switched off, and what was tried goes again at once', async () => {
    const ids = await fail(20);
    const { failingSince } = (await endpoint())!;
    await enableEndpoint(bench.db, WORKSPACE_ID);
    expect(failingSince).not.toBeNull();
    expect(await endpoint()).toMatchObject({ failuresSinceSuccess: 0, failingSince });
    expect(await breaker()).toEqual({ state: 'closed', opensAt: null, reason: null });
    expect(await openBreakers()).toEqual([]);
    expect(await bench.row(ids[0]!)).toMatchObject({ state: 'pending', attempts: 0 });
  });

  it('is closed by a success and by another URL', async () => {
    await fail(20);
    bench.answer(() => answered(200));
    await bench.attempt(await bench.record('recording.ready'));
    expect((await breaker()).state).toBe('closed');
    await fail(20);
    expect((await breaker()).state).not.toBe('closed');
    await setEndpoint(bench.db, createSealer('ab'.repeat(32)), WORKSPACE_ID, 'https://example.org/new');
    expect((await breaker()).state).toBe('closed');
  });
});

describe('a URL that is taken away', () => {
  it('gives up what waits, keeps it to be read, and gets nothing that is written later', async () => {
    const [waiting] = await fail(1);
    await removeEndpoint(bench.db, WORKSPACE_ID);
    expect(await bench.row(waiting!)).toMatchObject({ state: 'dead', last_error: 'the webhook URL was removed' });
    const listed = await listDeliveries(bench.db, WORKSPACE_ID, {}, { limit: 10, after: null });
    expect(listed).toMatchObject([{ id: waiting, state: 'dead', nextAttemptAt: null }]);
    expect(await bench.record('recording.ready')).toBeUndefined();
    await setEndpoint(bench.db, createSealer('ab'.repeat(32)), WORKSPACE_ID, 'https://example.org/new');
    expect((await bench.row(waiting!)).state).toBe('dead');
  });
});

describe('the log of attempts', () => {
  it('has status, error and duration of each, and keeps the newest 24', async () => {
    const [id] = await fail(1);
    for (let attempt = 2; attempt <= 30; attempt++) {
      await bench.db.query(`UPDATE webhook_deliveries SET attempts = 0, earlier_attempts = $2 WHERE id = $1`, [
        id,
        attempt - 1,
      ]);
      bench.clock.advanceMs(6_000);
      expect(await bench.attempt(id!)).toBe('failed');
    }
    const [row] = await bench.db.query<{ log: { attempt: number; status: number; error: string; ms: number }[] }>(
      'SELECT attempt_log AS log FROM webhook_deliveries',
    );
    expect(row?.log.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 24 }, (_, index) => index + 7));
    expect(row?.log.at(-1)).toMatchObject({ status: 500, error: 'answered 500', ms: 0 });
  });
});

describe('a claim', () => {
  it('does not take a second call of the same receiver for the first: each call has an order of its own', async () => {
    const other = sampleCall({ callUuid: '0199f0a2-6c1e-7b7a-9a58-3f6b6f0a2c12' });
    await insertCall(bench.db, other);
    const first = await bench.record('call.completed');
    const foreign = await bench.record('call.completed', other);
    expect(await bench.attempt(foreign)).toBe('delivered');
    expect(await bench.attempt(first)).toBe('delivered');
  });
});
