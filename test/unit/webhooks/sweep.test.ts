import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { WEBHOOK_DEFAULTS } from '../../../src/config/webhook-settings.ts';
import { SWEEP_EVERY_MS } from '../../../src/store/sweeper.ts';
import type { DeliveryStore, DueDelivery } from '../../../src/webhooks/delivery-store.ts';
import { createDispatcher } from '../../../src/webhooks/dispatcher.ts';
import { startSweep } from '../../../src/webhooks/sweep.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const SWEEP_PER_ENDPOINT = 200;

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function bench() {
  const clock = new VirtualClock();
  const logs: string[] = [];
  const state = { pages: [] as DueDelivery[][], sweeps: 0, away: false, given: [] as DueDelivery[][] };
  const store = {
    async due() {
      state.sweeps++;
      if (state.away) throw new Error('connection refused');
      return state.pages.shift() ?? [];
    },
  } as Partial<DeliveryStore> as DeliveryStore;
  const logger = pino({ level: 'info' }, { write: (line: string) => logs.push(JSON.parse(line).msg) });
  const sweep = startSweep({
    store,
    clock,
    logger,
    perEndpoint: SWEEP_PER_ENDPOINT,
    onDue: (due) => state.given.push([...due]),
  });
  return { clock, logs, state, sweep };
}

const page = (endpointId: string, count: number): DueDelivery[] =>
  Array.from({ length: count }, (_, index) => ({ id: `${endpointId}-${index}`, endpointId }));

describe('the sweep', () => {
  it('looks at once and then every 5 s, and hands over what is due', async () => {
    const { clock, state } = bench();
    await settle();
    expect(state.sweeps).toBe(1);
    expect(state.given).toEqual([]);
    state.pages.push(page('a', 2));
    clock.advanceMs(SWEEP_EVERY_MS - 1);
    expect(state.sweeps).toBe(1);
    clock.advanceMs(1);
    await settle();
    expect(state.given).toEqual([page('a', 2)]);
  });

  it('looks again as soon as a receiver with more backlog is out of work, and not for one without', async () => {
    const { clock, state, sweep } = bench();
    await settle();
    state.pages.push([...page('full', SWEEP_PER_ENDPOINT), ...page('small', 3)], page('full', 7));
    clock.advanceMs(SWEEP_EVERY_MS);
    await settle();
    sweep.drained('small');
    expect(state.sweeps).toBe(2);
    sweep.drained('full');
    await settle();
    expect(state.sweeps).toBe(3);
    expect(state.given[1]).toHaveLength(7);
    sweep.drained('full');
    expect(state.sweeps).toBe(3);
  });

  it('goes on while the database is away, says so once, and says when it is back', async () => {
    const { clock, state, logs } = bench();
    await settle();
    state.away = true;
    for (let round = 0; round < 5; round++) {
      clock.advanceMs(SWEEP_EVERY_MS);
      await settle();
    }
    state.away = false;
    clock.advanceMs(SWEEP_EVERY_MS);
    await settle();
    expect(state.sweeps).toBe(7);
    expect(logs).toEqual(['webhook sweep: the database is away', 'webhook sweep: the database is back']);
  });

  it('when closed leaves no timer and looks no more', async () => {
    const { clock, state, sweep } = bench();
    await sweep.close();
    await sweep.close();
    expect(clock.pendingTimers).toBe(0);
    clock.advanceMs(60_000);
    sweep.drained('a');
    expect(state.sweeps).toBe(1);
  });
});

describe('the dispatcher', () => {
  it('lets a receiver whose 20 requests all hang delay nobody else', async () => {
    const started: string[] = [];
    const dispatcher = createDispatcher({
      pace: WEBHOOK_DEFAULTS,
      store: {} as DeliveryStore,
      clock: new VirtualClock(),
      logger: pino({ level: 'silent' }),
      attempt: (id) => {
        started.push(id);
        return id.startsWith('hangs') ? new Promise(() => {}) : Promise.resolve('delivered');
      },
      onDrained: () => {},
    });
    dispatcher.offer(page('hangs', 100));
    dispatcher.offer(page('good', 50));
    await settle();
    expect(started.filter((id) => id.startsWith('hangs'))).toHaveLength(20);
    expect(started.filter((id) => id.startsWith('good'))).toHaveLength(50);
  });

  it('starts the retries of one ring 20 ms apart, a long ring within half a second, and none after it was closed', async () => {
    const clock = new VirtualClock();
    const started: number[] = [];
    const dispatcher = createDispatcher({
      pace: WEBHOOK_DEFAULTS,
      store: {
        endpointsOf: async (ids) => ids.map((id) => ({ id, endpointId: id })),
      } as Partial<DeliveryStore> as DeliveryStore,
      clock,
      logger: pino({ level: 'silent' }),
      attempt: () => {
        started.push(clock.nowMs());
        return Promise.resolve('failed');
      },
      onDrained: () => {},
    });
    await dispatcher.offerRetries(['a', 'b', 'c']);
    clock.advanceMs(1_000);
    expect(started).toEqual([0, 20, 40]);
    await dispatcher.offerRetries(Array.from({ length: 100 }, (_none, index) => `d${index}`));
    clock.advanceMs(500);
    expect(started).toHaveLength(103);
    await dispatcher.offerRetries(['e', 'f']);
    await dispatcher.close();
    clock.advanceMs(1_000);
    expect(started).toHaveLength(103);
    expect(clock.pendingTimers).toBe(0);
  });

  it('leaves to the sweep what could not be looked up', async () => {
    const dispatcher = createDispatcher({
      pace: WEBHOOK_DEFAULTS,
      store: { endpointsOf: () => Promise.reject(new Error('away')) } as Partial<DeliveryStore> as DeliveryStore,
      clock: new VirtualClock(),
      logger: pino({ level: 'silent' }),
      attempt: () => Promise.reject(new Error('must not be called')),
      onDrained: () => {},
    });
    await expect(dispatcher.offerIds(['a'])).resolves.toBeUndefined();
    await dispatcher.close();
  });
});
