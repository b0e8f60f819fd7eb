import { describe, expect, it } from 'vitest';
import { createCircuitBreaker, failedShare, failuresInARow } from '../../../../media/net/circuit-breaker.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const OPEN_MS = 1_000;

function inARow(most: number, tryLimitMs?: number) {
  const clock = new VirtualClock();
  const limit = tryLimitMs === undefined ? {} : { tryLimitMs };
  return { clock, breaker: createCircuitBreaker({ clock, rule: failuresInARow(most), openMs: OPEN_MS, ...limit }) };
}

function settle(breaker: { settled(failed: boolean | null): void }, outcomes: string): void {
  for (const outcome of outcomes) breaker.settled(outcome === '-' ? null : outcome === 'x');
}

describe('a breaker of failures in a row', () => {
  it('opens at so many, and not when one between them went well; what says nothing does not count', () => {
    const { breaker } = inARow(3);
    settle(breaker, 'xxoxx-');
    expect([breaker.isOpen(), breaker.waitMs(), breaker.admits()]).toEqual([false, 0, true]);
    settle(breaker, 'x');
    expect([breaker.isOpen(), breaker.waitMs(), breaker.admits()]).toEqual([true, OPEN_MS, false]);
  });

  it('lets one use try when the time is over; it decides', () => {
    const { clock, breaker } = inARow(2);
    settle(breaker, 'xx');
    clock.advanceMs(OPEN_MS - 1);
    expect(breaker.admits()).toBe(false);
    clock.advanceMs(1);
    expect([breaker.waitMs(), breaker.admits(), breaker.admits(), breaker.isOpen()]).toEqual([0, true, false, true]);
    settle(breaker, 'x');
    expect([breaker.waitMs(), breaker.admits()]).toEqual([OPEN_MS, false]);
    clock.advanceMs(OPEN_MS);
    expect(breaker.admits()).toBe(true);
    settle(breaker, 'o');
    expect([breaker.isOpen(), breaker.admits(), breaker.admits()]).toEqual([false, true, true]);
    settle(breaker, 'x');
    expect(breaker.isOpen(), 'the row begins anew').toBe(false);
  });

  it('stays open from the last failure of what was under way, and closes when one of those goes well', () => {
    const { clock, breaker } = inARow(2);
    settle(breaker, 'xx');
    clock.advanceMs(400);
    settle(breaker, 'x');
    expect(breaker.waitMs()).toBe(OPEN_MS);
    settle(breaker, 'o');
    expect(breaker.isOpen()).toBe(false);
  });

  it('gives the try to another when it was called off, or is not settled in time', () => {
    const { clock, breaker } = inARow(1, 300);
    settle(breaker, 'x');
    clock.advanceMs(OPEN_MS);
    expect(breaker.admits()).toBe(true);
    settle(breaker, '-');
    expect([breaker.admits(), breaker.admits()]).toEqual([true, false]);
    clock.advanceMs(300);
    expect([breaker.admits(), breaker.admits()]).toEqual([true, false]);
    const patient = inARow(1);
    settle(patient.breaker, 'x');
    patient.clock.advanceMs(OPEN_MS);
    expect(patient.breaker.admits()).toBe(true);
    patient.clock.advanceMs(86_400_000);
    expect(patient.breaker.admits(), 'without a limit').toBe(false);
  });

  it('is opened and closed by what others have seen', () => {
    const { clock, breaker } = inARow(3);
    breaker.open(400);
    expect([breaker.isOpen(), breaker.waitMs()]).toEqual([true, 400]);
    clock.advanceMs(400);
    settle(breaker, 'x');
    expect(breaker.waitMs(), 'one failure is enough to stay open').toBe(OPEN_MS);
    breaker.close();
    settle(breaker, 'xx');
    expect(breaker.isOpen()).toBe(false);
  });
});

describe('a breaker of a share', () => {
  function shared() {
    const clock = new VirtualClock();
    const rule = failedShare({ clock, share: 0.5, leastUses: 4, windowMs: 10_000 });
    return { clock, breaker: createCircuitBreaker({ clock, rule, openMs: OPEN_MS }) };
  }

  it('opens when enough of enough uses in the window failed', () => {
    const { clock, breaker } = shared();
    settle(breaker, 'xxx');
    clock.advanceMs(10_000);
    settle(breaker, 'oox');
    expect(breaker.isOpen(), 'the first three are of long ago').toBe(false);
    settle(breaker, 'x');
    expect(breaker.isOpen()).toBe(true);
  });

  it('is closed by a try alone: half of what was under way may go well', () => {
    const { clock, breaker } = shared();
    settle(breaker, 'xxxxooo');
    expect(breaker.isOpen()).toBe(true);
    clock.advanceMs(OPEN_MS);
    expect(breaker.admits()).toBe(true);
    settle(breaker, 'oxxx');
    expect(breaker.isOpen(), 'what came before the try is forgotten').toBe(false);
  });
});
