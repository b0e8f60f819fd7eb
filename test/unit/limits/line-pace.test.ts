import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressName } from '../../../media/contract/address-name.ts';
import { createLineFloor, paceAsk, spacedAsk } from '../../../src/limits/line-pace.ts';
import { createMemoryLimitStore } from '../../support/fakes/memory-limit-store.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

describe('the pace of a line', () => {
  it('never sends more than its calls per second in any second, whoever offers what when, with up to 19 ms of jitter on each send', async () => {
    const offers = fc.array(fc.record({ gapMs: fc.integer({ min: 0, max: 300 }), jitterMs: fc.nat(19) }), {
      minLength: 1,
      maxLength: 120,
    });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 10 }), offers, async (perSecond, all) => {
        const clock = new VirtualClock();
        const store = createMemoryLimitStore(clock);
        const floor = createLineFloor(clock);
        const sentAtMs: number[] = [];
        for (const { gapMs, jitterMs } of all) {
          clock.advanceMs(gapMs);
          const admission = { slots: [], holder: '', ttlMs: 0 };
          if (!(await store.admit({ ...admission, rates: [spacedAsk('cps', perSecond)] })).ok) continue;
          const turn = await store.admit({ ...admission, rates: [paceAsk('pace', perSecond)] });
          // What was let in is never turned away here.
          expect(turn.ok).toBe(true);
          const waitMs = floor.wait('line', perSecond, (turn.tatsUs[0] ?? 0) / 1000);
          expect(waitMs).toBeLessThanOrEqual(2_000);
          sentAtMs.push(clock.nowMs() + waitMs + jitterMs);
        }
        for (const [first, fromMs] of sentAtMs.entries()) {
          const within = sentAtMs.slice(first).filter((atMs) => atMs < fromMs + 1000);
          expect(within.length).toBeLessThanOrEqual(perSecond);
        }
      }),
      { numRuns: 200, seed: 5 },
    );
  });

  it('lets a client in that comes each second at 1 a second, 11 times of 12', async () => {
    const clock = new VirtualClock();
    const store = createMemoryLimitStore(clock);
    let taken = 0;
    for (let second = 0; second < 60; second++) {
      const answer = await store.admit({ rates: [spacedAsk('cps', 1)], slots: [], holder: '', ttlMs: 0 });
      if (answer.ok) taken += 1;
      clock.advanceMs(1_000);
    }
    expect(taken).toBeGreaterThanOrEqual(55);
  });

  it('lets a burst of exactly its calls per second in, for 1 to 200', async () => {
    for (const perSecond of [1, 2, 3, 5, 10, 50, 200]) {
      const store = createMemoryLimitStore(new VirtualClock());
      let taken = 0;
      for (let times = 0; times < 2 * perSecond + 2; times++) {
        const answer = await store.admit({ rates: [spacedAsk('cps', perSecond)], slots: [], holder: '', ttlMs: 0 });
        if (answer.ok) taken += 1;
      }
      expect(taken, `${perSecond} a second`).toBe(perSecond);
    }
  });
});

describe('the name of an address', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['0000:0000:0000:0000:0000:ffff:c000:0201', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:0DB8:0001:0002:ffff::9', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['local', 'local'],
  ])('of %s is %s', (address, name) => expect(addressName(address)).toBe(name));
});
