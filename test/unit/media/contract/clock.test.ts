import { describe, expect, it } from 'vitest';
import { every, pause } from '../../../../media/contract/clock.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('every', () => {
  it('runs at its own pace from now on until it is ended, though a run throws', () => {
    const clock = new VirtualClock();
    const ranAtMs: number[] = [];
    const end = every(clock, 100, () => {
      ranAtMs.push(clock.nowMs());
      if (ranAtMs.length === 1) throw new Error('the first fails');
    });
    expect(() => clock.advanceMs(100)).toThrow('the first fails');
    clock.advanceMs(250);
    expect(ranAtMs).toEqual([100, 200, 300]);
    end();
    end();
    clock.advanceMs(1_000);
    expect([ranAtMs.length, clock.pendingTimers]).toEqual([3, 0]);
  });

  it('can be ended by what it runs', () => {
    const clock = new VirtualClock();
    let runs = 0;
    const end = every(clock, 100, () => {
      if (++runs === 2) end();
    });
    clock.advanceMs(1_000);
    expect([runs, clock.pendingTimers]).toEqual([2, 0]);
  });
});

describe('a pause', () => {
  async function isOver(paused: Promise<void>): Promise<boolean> {
    let over = false;
    void paused.then(() => {
      over = true;
    });
    await settle();
    return over;
  }

  it('lasts so long', async () => {
    const clock = new VirtualClock();
    const paused = pause(clock, 50);
    clock.advanceMs(49);
    expect(await isOver(paused)).toBe(false);
    clock.advanceMs(1);
    expect(await isOver(paused)).toBe(true);
  });

  it('ends when its signal is aborted, before or meanwhile, and leaves no timer', async () => {
    const clock = new VirtualClock();
    const stopping = new AbortController();
    const paused = pause(clock, 50, stopping.signal);
    expect(await isOver(paused)).toBe(false);
    stopping.abort();
    expect([await isOver(paused), clock.pendingTimers]).toEqual([true, 0]);
    expect([await isOver(pause(clock, 50, stopping.signal)), clock.pendingTimers]).toEqual([true, 0]);
  });
});
