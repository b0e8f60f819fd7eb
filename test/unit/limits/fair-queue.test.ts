import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFairQueue, type FairQueue, type QueuePriority } from '../../../src/limits/fair-queue.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

interface Entered {
  key: string;
  leave: (() => void) | null | undefined;
}

function setUp(options: { slots?: number; slotsPerKey?: number; mostWaiting?: number } = {}) {
  const clock = new VirtualClock();
  const { slots = 2, slotsPerKey = slots, mostWaiting = 100 } = options;
  const queue = createFairQueue({ clock, slots, slotsPerKey, mostWaiting, longestWaitMs: 2_000 });
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  /** Who got in, in order. */
  const order: string[] = [];
  const enter = (key: string, priority: QueuePriority = 'api'): Entered => {
    const entered: Entered = { key, leave: undefined };
    void queue.enter(key, priority).then((leave) => {
      entered.leave = leave;
      if (leave !== null) order.push(key);
    });
    return entered;
  };
  return { clock, queue, enter, settled, order };
}

describe('the fair queue', () => {
  it('gives a workspace with one call the next turn but one, although another has 90 waiting', async () => {
    const { enter, settled, order } = setUp({ slots: 1 });
    const all = Array.from({ length: 91 }, () => enter('big'));
    await settled();
    all.push(enter('small'));
    await settled();
    for (let turn = 0; turn < 2; turn++) {
      const one = all.find(({ leave }) => typeof leave === 'function')!;
      const { leave } = one;
      one.leave = null;
      leave?.();
      await settled();
    }
    expect(order).toEqual(['big', 'big', 'small']);
  });

  it('serves 20 workspaces that all wait in turns: after any number of turns none is two ahead of another', async () => {
    const { queue, enter, settled, order } = setUp({ slots: 3, mostWaiting: 1_000 });
    const all = Array.from({ length: 400 }, (_none, index) => enter(`w${(index * index) % 20}`));
    await settled();
    const waitingOf = (key: string): number => all.filter((one) => one.key === key && one.leave === undefined).length;
    for (let turn = 0; turn < 60; turn++) {
      const one = all.find(({ leave }) => typeof leave === 'function')!;
      const { leave } = one;
      one.leave = null;
      leave?.();
      await settled();
      const served = new Map<string, number>();
      for (const key of order.slice(3)) served.set(key, (served.get(key) ?? 0) + 1);
      const stillWaiting = [...new Set(all.map(({ key }) => key))].filter((key) => waitingOf(key) > 0);
      const counts = stillWaiting.map((key) => served.get(key) ?? 0);
      if (counts.length > 1) expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    }
    expect(queue.running).toBe(3);
  });

  it('leaves slots to others when one workspace holds its share', async () => {
    const { enter, settled, queue } = setUp({ slots: 4, slotsPerKey: 2 });
    const greedy = [1, 2, 3, 4].map(() => enter('greedy'));
    await settled();
    expect(greedy.filter((one) => typeof one.leave === 'function')).toHaveLength(2);
    const other = enter('other');
    await settled();
    expect(typeof other.leave).toBe('function');
    expect(queue).toMatchObject({ running: 3, waiting: 2 });
  });

  it('refuses who waited 2 s, and not a moment before', async () => {
    const { clock, enter, settled, queue } = setUp({ slots: 1 });
    enter('a');
    await settled();
    const late = enter('a');
    clock.advanceMs(1_999);
    await settled();
    expect(late.leave).toBeUndefined();
    clock.advanceMs(1);
    await settled();
    expect(late.leave).toBeNull();
    expect(queue).toMatchObject({ running: 1, waiting: 0 });
    expect(clock.pendingTimers).toBe(0);
  });

  it('sheds web demos at a quarter, campaigns at half, API calls at nine tenths, and inbound calls last', async () => {
    const { enter, settled } = setUp({ slots: 1, mostWaiting: 20 });
    enter('k');
    const waiting: Record<string, Entered[]> = {};
    for (const priority of ['web', 'campaign', 'api', 'inbound'] as const) {
      waiting[priority] = Array.from({ length: 20 }, () => enter('k', priority));
      await settled();
    }
    const kept = Object.values(waiting).map((all) => all.filter((one) => one.leave === undefined).length);
    expect(kept).toEqual([5, 5, 8, 2]);
  });

  it('makes room for a newcomer at the cost of the workspace with the most waiting', async () => {
    const { enter, settled } = setUp({ slots: 1, mostWaiting: 20 });
    const flood = Array.from({ length: 40 }, () => enter('flood'));
    const small = enter('small');
    await settled();
    expect(small.leave).toBeUndefined();
    expect(flood.filter((one) => one.leave === undefined)).toHaveLength(17);
  });

  it('never runs more than its slots, loses none and forgets nobody, whatever comes and goes', async () => {
    const step = fc.oneof(
      fc.record({ type: fc.constant('enter' as const), key: fc.constantFrom('a', 'b', 'c') }),
      fc.record({ type: fc.constant('leave' as const), pick: fc.nat(20) }),
      fc.record({ type: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 1_500 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { clock, queue, enter, settled } = setUp({ slots: 3, slotsPerKey: 2, mostWaiting: 10 });
        const all: Entered[] = [];
        const running = (): Entered[] => all.filter(({ leave }) => typeof leave === 'function');
        const end = (one: Entered | undefined): void => {
          const leave = one?.leave;
          if (one === undefined || typeof leave !== 'function') return;
          one.leave = null;
          leave();
          leave();
        };
        for (const one of steps) {
          if (one.type === 'enter') all.push(enter(one.key));
          else if (one.type === 'leave') end(running()[one.pick % Math.max(1, running().length)]);
          else clock.advanceMs(one.ms);
          await settled();
          expect(running().length).toBe(queue.running);
          expect(queue.running).toBeLessThanOrEqual(3);
          for (const key of ['a', 'b', 'c']) {
            expect(running().filter((entered) => entered.key === key).length).toBeLessThanOrEqual(2);
          }
          expect(all.filter(({ leave }) => leave === undefined).length).toBe(queue.waiting);
        }
        while (running().length > 0 || queue.waiting > 0) {
          for (const one of running()) end(one);
          await settled();
        }
        expect(queue).toMatchObject<Partial<FairQueue>>({ running: 0, waiting: 0 });
        expect(clock.pendingTimers).toBe(0);
      }),
      { numRuns: 150, seed: 17 },
    );
  });
});
