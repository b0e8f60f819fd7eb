import { describe, expect, it } from 'vitest';
import { osThreadId, readThreadWork } from '../../../../../media/io/threads/os-thread.ts';
import { SilenceGauge, type ThreadWork } from '../../../../../media/io/threads/silence-gauge.ts';

const WATCH_MS = 50;

/**
 * Ms from the last beat until the gauge counts more than 600 ms, looked at each 50 ms; a thread that works for `share`
 * of the time.
 */
function dyingAfterMs(isRunnable: boolean, share: number, limitMs = 20_000): number {
  let nowMs = 0;
  const gauge = new SilenceGauge(() => ({ cpuMs: nowMs * share, isRunnable }));
  for (; nowMs < limitMs; nowMs += WATCH_MS) if (gauge.silentMs(nowMs, 0) > 600) return nowMs;
  return limitMs;
}

describe('the silence of a thread', () => {
  it('of one that spins counts in full', () => {
    expect(dyingAfterMs(true, 1)).toBe(650);
  });

  it('of one that sleeps, in a lock that nobody opens, counts in full', () => {
    expect(dyingAfterMs(false, 0)).toBe(650);
  });

  it('of one that waits for a processor does not count, for 5 s at most', () => {
    expect(dyingAfterMs(true, 0)).toBe(5_050);
  });

  it('of one that spins on a quarter of a processor counts as far as it worked', () => {
    expect(dyingAfterMs(true, 0.25)).toBe(2_000);
  });

  it('counts in full where nothing is known of the thread', () => {
    const gauge = new SilenceGauge(() => null);
    expect(gauge.silentMs(900, 0)).toBe(900);
  });

  it('begins anew with each beat, and a thread that beats is not asked about', () => {
    let asked = 0;
    const work: ThreadWork = { cpuMs: 0, isRunnable: true };
    const gauge = new SilenceGauge(() => {
      asked++;
      return work;
    });
    expect(gauge.silentMs(100, 0)).toBe(100);
    expect(asked).toBe(0);
    expect(gauge.silentMs(200, 0)).toBe(200);
    expect(gauge.silentMs(500, 0)).toBe(200);
    work.cpuMs = 300;
    expect(gauge.silentMs(800, 0)).toBe(500);
    expect(gauge.silentMs(1_000, 900)).toBe(100);
    expect(gauge.silentMs(1_060, 900)).toBe(160);
  });
});

describe.runIf(process.platform === 'linux')('the work of a thread, as Linux tells it', () => {
  it('is that of the thread that asks: it works, and more of it is told as it goes on', () => {
    const tid = osThreadId()!;
    const before = readThreadWork(tid)!;
    expect(before.isRunnable).toBe(true);
    let now = before;
    for (let turns = 0; now.cpuMs < before.cpuMs + 20 && turns < 10_000_000; turns++) now = readThreadWork(tid)!;
    expect(now.cpuMs).toBeGreaterThanOrEqual(before.cpuMs + 20);
  });

  it('is not known of a thread that is not there', () => {
    expect(readThreadWork(2 ** 30)).toBe(null);
  });
});
