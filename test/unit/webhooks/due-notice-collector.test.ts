import { describe, expect, it } from 'vitest';
import { createDueNoticeCollector } from '../../../src/webhooks/due-notice-collector.ts';
import type { DueNotice } from '../../../src/webhooks/queue.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

function bench() {
  const clock = new VirtualClock();
  const announced: { atMs: number; notices: readonly DueNotice[] }[] = [];
  const collector = createDueNoticeCollector({
    clock,
    onFull: (notices) => announced.push({ atMs: clock.nowMs(), notices }),
  });
  return { clock, announced, collector };
}

describe('the collector of notices', () => {
  it('makes a few notices of 100 retries that failed within half a second, each never early and up to a tenth late', () => {
    const { clock, announced, collector } = bench();
    const due = new Map<string, number>();
    for (let index = 0; index < 100; index++) {
      const afterMs = 4_000 + ((index * 37) % 2_000);
      due.set(`d${index}`, clock.nowMs() + afterMs);
      collector.put(`d${index}`, afterMs);
      clock.advanceMs(5);
    }
    clock.advanceMs(10_000);
    const notices = announced.flatMap(({ atMs, notices: all }) =>
      all.map((notice) => ({ ...notice, atMs: atMs + notice.delayMs })),
    );
    expect(notices.length).toBeLessThan(20);
    expect(notices.flatMap(({ deliveryIds }) => deliveryIds).toSorted()).toEqual([...due.keys()].toSorted());
    for (const { atMs, deliveryIds } of notices) {
      for (const id of deliveryIds) {
        expect(atMs - due.get(id)!).toBeGreaterThanOrEqual(0);
        expect(atMs - due.get(id)!).toBeLessThanOrEqual(600);
      }
    }
  });

  it('does not let a long pause hold up a short one, and waits for nothing once it is empty', () => {
    const { clock, announced, collector } = bench();
    collector.put('in a day', 86_400_000);
    collector.put('soon', 100);
    clock.advanceMs(20);
    expect(announced).toHaveLength(1);
    expect(announced[0]!.notices.map(({ deliveryIds, delayMs }) => [deliveryIds[0], delayMs])).toEqual([
      ['in a day', 86_400_000 - 20],
      ['soon', 84],
    ]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('hands on at the end what waits, and nothing twice', () => {
    const { clock, announced, collector } = bench();
    collector.put('a', 5_000);
    collector.flush();
    collector.flush();
    expect(announced.map(({ notices }) => notices.length)).toEqual([1]);
    expect(clock.pendingTimers).toBe(0);
  });
});
