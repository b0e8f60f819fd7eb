import { type AddressInfo, createServer } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../media/contract/clock.ts';
import { createServerSessions } from '../../../src/store/server-sessions.ts';
import { type QueueBell, startQueueBell } from '../../../src/webhooks/queue-bell.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const lines: string[] = [];
const logger = pino({ level: 'info' }, { write: (line: string) => lines.push(line) });

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('the bell on PostgreSQL', () => {
  let server: TestDatabase;
  let bell: QueueBell;
  const rings: string[] = [];
  const heardAtMs = new Map<string, number>();
  const waiting: (() => void)[] = [];
  const heard = (id: string): Promise<void> =>
    new Promise((resolve) => {
      if (rings.includes(id)) resolve();
      else waiting.push(() => rings.includes(id) && resolve());
    });
  beforeAll(async () => {
    server = await createTestDatabase();
    bell = await startQueueBell({
      databaseUrl: server.connectionString,
      redisUrl: null,
      sessions: createServerSessions(),
      clock: systemClock,
      logger,
      onRing(ids) {
        rings.push(...ids);
        for (const id of ids) heardAtMs.set(id, performance.now());
        for (const check of waiting) check();
      },
    });
  });
  afterAll(async () => {
    await bell?.close();
    await server?.close();
  });

  it('is heard for each id, and later for a ring that was to come later', async () => {
    expect(bell.isOpen()).toBe(true);
    const rungAtMs = performance.now();
    bell.ringLater('later', 200);
    bell.ring(['a', 'b']);
    await Promise.all([heard('a'), heard('b')]);
    await heard('later');
    expect(heardAtMs.get('later')! - rungAtMs).toBeGreaterThanOrEqual(199);
    expect(rings.filter((id) => id === 'later')).toHaveLength(1);
  });

  it('is heard again for an id that rang before, once the first ring is done with', async () => {
    const times = (): number => rings.filter((id) => id === 'again').length;
    while (times() < 2) {
      bell.ring(['again']);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    expect(times()).toBeGreaterThanOrEqual(2);
  });
});

/** Virtual time runs at 100 ms a turn until `work` is done. */
async function passing<Result>(clock: VirtualClock, work: Promise<Result>): Promise<Result> {
  let done = false;
  const end = (): void => {
    done = true;
  };
  work.then(end, end);
  while (!done) {
    clock.advanceMs(100);
    await new Promise(setImmediate);
  }
  return work;
}

describe('the bell when its store is away', () => {
  it.each(['postgresql', 'redis'])('starts, rings in vain, warns once and closes: %s', async (kind) => {
    lines.length = 0;
    const address = `${kind}://127.0.0.1:${await closedPort()}/x`;
    const clock = new VirtualClock();
    const starting = startQueueBell({
      databaseUrl: address,
      redisUrl: kind === 'redis' ? address : null,
      sessions: createServerSessions(),
      clock,
      logger,
      onRing: () => {},
    });
    const bell = await passing(clock, starting);
    expect(bell.isOpen()).toBe(false);
    bell.ring(['a']);
    bell.ringLater('b', 10);
    await passing(clock, bell.close());
    await bell.close();
    expect(clock.pendingTimers).toBe(0);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('deliveries go on by the sweep');
  });
});
