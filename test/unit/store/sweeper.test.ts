import { expect, it } from 'vitest';
import { createSweeper, SWEEP_EVERY_MS } from '../../../src/store/sweeper.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const HOUR_MS = 3_600_000;

/** `hold()` makes the next looks last until the function that it returns is called. */
function rig(everyMs?: number) {
  const clock = new VirtualClock();
  const seen = { looksAtMs: [] as number[], said: [] as string[], away: false };
  let held: Promise<void> = Promise.resolve();
  const sweeper = createSweeper({
    clock,
    ...(everyMs === undefined ? {} : { everyMs }),
    async sweep() {
      seen.looksAtMs.push(clock.nowMs());
      await held;
      if (seen.away) throw new Error('connection refused');
    },
    failed: (error) => seen.said.push((error as Error).message),
    back: () => seen.said.push('back'),
  });
  const hold = (): (() => void) => {
    let release = (): void => {};
    held = new Promise((resolve) => {
      release = resolve;
    });
    return release;
  };
  const pass = async (ms: number): Promise<void> => {
    clock.advanceMs(ms);
    await settle();
  };
  return { clock, seen, sweeper, hold, pass };
}

it('looks at the start and then so long after the end of each look', async () => {
  const { seen, sweeper, hold, pass } = rig();
  await pass(60_000);
  sweeper.nudge();
  expect(seen.looksAtMs, 'before the start').toEqual([]);
  const release = hold();
  sweeper.start();
  await pass(7_000);
  release();
  await settle();
  await pass(SWEEP_EVERY_MS - 1);
  expect(seen.looksAtMs).toEqual([60_000]);
  await pass(1);
  expect(seen.looksAtMs).toEqual([60_000, 72_000]);
});

it('looks first when it is told to, and at its own pace', async () => {
  const { seen, sweeper, pass } = rig(1_000);
  sweeper.start(300);
  for (let tenths = 0; tenths < 30; tenths++) await pass(100);
  expect(seen.looksAtMs).toEqual([300, 1_300, 2_300]);
});

it('looks at once when nudged, and once more for all nudges that come during a look', async () => {
  const { seen, sweeper, hold, pass } = rig();
  sweeper.start();
  await pass(100);
  const release = hold();
  sweeper.nudge();
  sweeper.nudge();
  sweeper.nudge();
  expect(seen.looksAtMs).toEqual([0, 100]);
  let isIdle = false;
  const idle = sweeper.idle().then(() => {
    isIdle = true;
  });
  await pass(50);
  expect(isIdle).toBe(false);
  release();
  await idle;
  expect(seen.looksAtMs).toEqual([0, 100, 150]);
  await pass(SWEEP_EVERY_MS);
  expect(seen.looksAtMs, 'one timer').toEqual([0, 100, 150, 150 + SWEEP_EVERY_MS]);
});

it('says once that it fails, again after an hour, and once that it is over; a nudge during a failure waits', async () => {
  const { seen, sweeper, hold, pass } = rig(60_000);
  seen.away = true;
  const release = hold();
  sweeper.start();
  sweeper.nudge();
  release();
  await settle();
  expect(seen.looksAtMs).toEqual([0]);
  for (let minutes = 1; minutes < 60; minutes++) await pass(60_000);
  expect([seen.looksAtMs.length, seen.said]).toEqual([60, ['connection refused']]);
  await pass(60_000);
  expect(seen.looksAtMs.at(-1)).toBe(HOUR_MS);
  seen.away = false;
  await pass(60_000);
  await pass(60_000);
  expect(seen.said).toEqual(['connection refused', 'connection refused', 'back']);
});

it('when closed waits for the look under way, looks no more and leaves no timer', async () => {
  const { clock, seen, sweeper, hold, pass } = rig();
  const release = hold();
  sweeper.start();
  sweeper.nudge();
  let isClosed = false;
  const closed = Promise.all([sweeper.close(), sweeper.close()]).then(() => {
    isClosed = true;
  });
  await settle();
  expect(isClosed).toBe(false);
  release();
  await closed;
  sweeper.nudge();
  await pass(60_000);
  expect([seen.looksAtMs, clock.pendingTimers]).toEqual([[0], 0]);
});
