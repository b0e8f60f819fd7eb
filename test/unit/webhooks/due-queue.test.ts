import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../../bench/harness/free-port.ts';
import { systemClock } from '../../../media/contract/clock.ts';
import { createServerSessions } from '../../../src/store/server-sessions.ts';
import { type DueQueue, startDueQueue } from '../../../src/webhooks/due-queue.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const lines: string[] = [];
const logger = pino({ level: 'info' }, { write: (line: string) => lines.push(line) });

describe('the due queue on PostgreSQL', () => {
  let server: TestDatabase;
  let dueQueue: DueQueue;
  const notices: string[] = [];
  const heardAtMs = new Map<string, number>();
  const waiting: (() => void)[] = [];
  const heard = (id: string): Promise<void> =>
    new Promise((resolve) => {
      if (notices.includes(id)) resolve();
      else waiting.push(() => notices.includes(id) && resolve());
    });
  beforeAll(async () => {
    server = await createTestDatabase();
    dueQueue = await startDueQueue({
      databaseUrl: server.connectionString,
      redisUrl: null,
      sessions: createServerSessions(),
      clock: systemClock,
      logger,
      onDue(ids) {
        notices.push(...ids);
        for (const id of ids) heardAtMs.set(id, performance.now());
        for (const check of waiting) check();
      },
    });
  });
  afterAll(async () => {
    await dueQueue?.close();
    await server?.close();
  });

  it('is heard for each id, and later for a ring that was to come later', async () => {
    expect(dueQueue.isOpen()).toBe(true);
    const rungAtMs = performance.now();
    dueQueue.announceLater('later', 200);
    dueQueue.announce(['a', 'b']);
    await Promise.all([heard('a'), heard('b')]);
    await heard('later');
    expect(heardAtMs.get('later')! - rungAtMs).toBeGreaterThanOrEqual(199);
    expect(notices.filter((id) => id === 'later')).toHaveLength(1);
  });

  it('is heard again for an id that rang before, once the first ring is done with', async () => {
    const times = (): number => notices.filter((id) => id === 'again').length;
    while (times() < 2) {
      dueQueue.announce(['again']);
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

describe('the due queue when its store is away', () => {
  it.each(['postgresql', 'redis'])('starts, announces in vain, warns once and closes: %s', async (kind) => {
    lines.length = 0;
    const address = `${kind}://127.0.0.1:${await freePort()}/x`;
    const clock = new VirtualClock();
    const starting = startDueQueue({
      databaseUrl: address,
      redisUrl: kind === 'redis' ? address : null,
      sessions: createServerSessions(),
      clock,
      logger,
      onDue: () => {},
    });
    const dueQueue = await passing(clock, starting);
    expect(dueQueue.isOpen()).toBe(false);
    dueQueue.announce(['a']);
    dueQueue.announceLater('b', 10);
    await passing(clock, dueQueue.close());
    await dueQueue.close();
    expect(clock.pendingTimers).toBe(0);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('deliveries go on by the sweep');
  });
});
