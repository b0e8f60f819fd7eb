import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { disableEndpoint } from '../../../src/webhooks/endpoint.ts';
import { purgeWebhooks, startPurge } from '../../../src/webhooks/purge.ts';
import { createDeliveryBench, type DeliveryBench } from './delivery-bench.ts';
import { WORKSPACE_ID } from './sample-call.ts';

const DAY_MS = 24 * 3_600_000;
let bench: DeliveryBench;
beforeAll(async () => {
  bench = await createDeliveryBench();
});
afterAll(() => bench?.close());
beforeEach(() => bench.reset());

const setState = (id: string, state: string): Promise<unknown[]> =>
  bench.db.query('UPDATE webhook_deliveries SET state = $2, dead_at = $3 WHERE id = $1', [
    id,
    state,
    state === 'dead' ? new Date(bench.clock.epochMs()) : null,
  ]);
const left = () =>
  bench.db.query<{ event: string; body: string; state: string | null }>(
    `SELECT v.event, v.body, d.state FROM webhook_events v LEFT JOIN webhook_deliveries d ON d.event_id = v.id ORDER BY v.sequence`,
  );

describe('the purge', () => {
  it('removes what was given up 30 days ago with its event, and not a ms earlier', async () => {
    await setState(await bench.record('call.completed'), 'dead');
    bench.clock.advanceMs(30 * DAY_MS);
    expect(await purgeWebhooks(bench.db, bench.clock.epochMs())).toEqual({ removed: 0, emptied: 0 });
    bench.clock.advanceMs(1);
    expect(await purgeWebhooks(bench.db, bench.clock.epochMs())).toEqual({ removed: 1, emptied: 0 });
    expect(await left()).toEqual([]);
  });

  it('empties the body of what was delivered, keeps its row for the call log, and touches nothing that still waits', async () => {
    await setState(await bench.record('call.completed'), 'delivered');
    await bench.record('recording.ready');
    bench.clock.advanceMs(31 * DAY_MS);
    expect(await purgeWebhooks(bench.db, bench.clock.epochMs())).toEqual({ removed: 0, emptied: 1 });
    const [delivered, waiting] = await left();
    expect(delivered).toEqual({ event: 'call.completed', body: '', state: 'delivered' });
    expect(waiting).toMatchObject({ event: 'recording.ready', body: expect.stringContaining('callUuid') });
  });

  it('removes what waited 30 days at a URL that is off as long', async () => {
    await bench.record('call.completed');
    await disableEndpoint(bench.db, WORKSPACE_ID);
    await bench.db.query('UPDATE webhook_endpoints SET disabled_at = $1', [new Date(bench.clock.epochMs() + DAY_MS)]);
    bench.clock.advanceMs(31 * DAY_MS);
    expect((await purgeWebhooks(bench.db, bench.clock.epochMs())).removed).toBe(0);
    bench.clock.advanceMs(1);
    expect((await purgeWebhooks(bench.db, bench.clock.epochMs())).removed).toBe(1);
  });

  it('runs each hour, goes on after a fault, and leaves no timer when closed', async () => {
    const lines: string[] = [];
    const purge = startPurge({
      db: { query: () => Promise.reject(new Error('away')) } as never,
      clock: bench.clock,
      logger: pino({}, { write: (line: string) => lines.push(line) }),
      mostWaiting: 1_000,
    });
    for (let hour = 0; hour < 2; hour++) {
      bench.clock.advanceMs(3_600_000);
      await new Promise(setImmediate);
    }
    expect(lines.filter((line) => line.includes('next hour'))).toHaveLength(2);
    await purge.close();
    await purge.close();
    expect(bench.clock.pendingTimers).toBe(0);
  });
});
