/** Delivery through the real guarded client to receivers that misbehave; time is virtual, sockets are real. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAddressGuard } from '../../../media/net/address-guard.ts';
import { createGuardedClient } from '../../../media/net/guarded-client.ts';
import { type Answer, startReceiver, type TestReceiver } from '../media/net/test-receiver.ts';
import { createDeliveryBench, type DeliveryBench, type DeliveryRow } from './delivery-bench.ts';

let bench: DeliveryBench;
let receiver: TestReceiver | null = null;
beforeAll(async () => {
  bench = await createDeliveryBench();
});
afterAll(() => bench?.close());
beforeEach(async () => {
  receiver = null;
});
afterEach(() => receiver?.close());

/** One attempt at a receiver that behaves so; virtual time runs at 1 ms a turn while the request is under way. */
async function deliver(behave: Answer, host = '127.0.0.1'): Promise<{ row: DeliveryRow; tookMs: number }> {
  receiver = await startReceiver(behave);
  await bench.reset(`http://${host}:${receiver.port}/hooks`);
  const client = createGuardedClient({ guard: createAddressGuard(['127.0.0.0/8']), clock: bench.clock });
  let tookMs = 0;
  bench.useHttp({
    async send(request) {
      const startedAtMs = bench.clock.nowMs();
      let ended = false;
      const sent = client.send(request).finally(() => {
        ended = true;
      });
      await Promise.race([receiver?.received(1), sent]);
      while (!ended) {
        bench.clock.advanceMs(1);
        await new Promise(setImmediate);
      }
      tookMs = bench.clock.nowMs() - startedAtMs;
      return sent;
    },
    close: () => client.close(),
  });
  const id = await bench.record('call.completed');
  await bench.attempt(id);
  return { row: await bench.row(id), tookMs };
}

describe('a receiver that', () => {
  it('hangs is given 3,000 ms, then a retry', async () => {
    const { row, tookMs } = await deliver(() => {});
    expect(row).toMatchObject({ state: 'pending', attempts: 1, last_error: 'no answer within 3000 ms' });
    expect(tookMs).toBe(3_000);
  });

  it('answers 200 after 4 s has failed, since the answer came after the limit', async () => {
    const { row } = await deliver((_request, response) => bench.clock.after(4_000, () => response.end()));
    expect(row).toMatchObject({ state: 'pending', last_status: null, last_error: 'no answer within 3000 ms' });
  });

  it('answers 200 after 2 s is delivered', async () => {
    const { row } = await deliver((_request, response) => bench.clock.after(2_000, () => response.end()));
    expect(row).toMatchObject({ state: 'delivered', last_status: 200 });
  });

  it('answers 500 is retried after 5 s', async () => {
    const { row } = await deliver((_request, response) => response.writeHead(500).end('<h1>Oops</h1>'));
    expect(row).toMatchObject({ state: 'pending', last_status: 500, last_error: 'answered 500: <h1>Oops</h1>' });
    expect(bench.retries[0]?.afterMs).toBe(5_000);
  });

  it('answers 429 with Retry-After: 90 is retried after 90 s', async () => {
    await deliver((_request, response) => response.writeHead(429, { 'retry-after': '90' }).end());
    expect(bench.retries[0]?.afterMs).toBe(90_000);
  });

  it('answers 410 is sent no more', async () => {
    await deliver((_request, response) => response.writeHead(410).end());
    const [endpoint] = await bench.db.query<{ disabled_at: Date | null }>('SELECT disabled_at FROM webhook_endpoints');
    expect(endpoint?.disabled_at).not.toBeNull();
  });

  it('redirects to itself is not followed', async () => {
    const { row } = await deliver((_request, response) => response.writeHead(307, { location: '/hooks' }).end());
    expect(row).toMatchObject({ state: 'pending', last_status: 307 });
    expect(receiver?.requests).toHaveLength(1);
  });

  it('answers 500 with 1 MB leaves 300 characters in the row', async () => {
    const { row } = await deliver((_request, response) => response.writeHead(500).end('x'.repeat(1_048_576)));
    expect(row.last_error).toHaveLength(300);
  });

  it('answers 200 and drips its body a byte at a time is delivered within 2 s', async () => {
    let stop = false;
    const { row, tookMs } = await deliver((_request, response) => {
      response.writeHead(200);
      const drip = (): void => {
        if (stop || response.destroyed) return;
        response.write('x');
        bench.clock.after(100, drip);
      };
      drip();
    });
    stop = true;
    expect(row).toMatchObject({ state: 'delivered', last_status: 200 });
    expect(tookMs).toBeLessThan(2_000);
  });

  it('lies at a private address that is not allowed gets nothing', async () => {
    const { row } = await deliver((_request, response) => response.end(), '[::1]');
    expect(row).toMatchObject({
      state: 'pending',
      attempts: 1,
      last_error: expect.stringContaining('WEBHOOK_ALLOW_CIDRS'),
    });
    expect(receiver?.connections).toBe(0);
  });
});
