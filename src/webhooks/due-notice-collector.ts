/**
 * Retries that fall due at about the same time become one notice: receivers that hang fail by the dozen, and a job each
 * would cost the queue's store more than the deliveries do. Made by `due-queue.ts`. What waits here is lost with the
 * process; the sweep has it.
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { DueNotice } from './queue.ts';

/** A notice waits here for a fifth of its pause at most, and no longer than this: by then it is in the queue. */
const LONGEST_WAIT_MS = 1_000;
const WAIT_SHARE = 0.2;
/** Due times are rounded up by a tenth of the pause at most, and no further than this. */
const LONGEST_SLOT_MS = 1_024;
const SLOT_SHARE = 0.1;
const MOST_WAITING = 5_000;

export interface DueNoticeCollector {
  put(deliveryId: string, afterMs: number): void;
  /** Hands on at once what waits. */
  flush(): void;
}

export function createDueNoticeCollector(deps: {
  clock: Clock;
  onFull(notices: readonly DueNotice[]): void;
}): DueNoticeCollector {
  const { clock } = deps;
  /** By the moment (of `nowMs`) at which they are due. */
  let slots = new Map<number, string[]>();
  let count = 0;
  let flushAtMs = Number.POSITIVE_INFINITY;
  let cancel = (): void => {};

  function flush(): void {
    cancel();
    flushAtMs = Number.POSITIVE_INFINITY;
    if (count === 0) return;
    const nowMs = clock.nowMs();
    const notices = [...slots].map(([atMs, deliveryIds]) => ({
      deliveryIds,
      delayMs: Math.max(0, Math.ceil(atMs - nowMs)),
    }));
    slots = new Map();
    count = 0;
    deps.onFull(notices);
  }

  return {
    put(deliveryId, afterMs) {
      const nowMs = clock.nowMs();
      const waitMs = Math.min(LONGEST_WAIT_MS, Math.max(0, afterMs) * WAIT_SHARE);
      const slotMs = slotOf(afterMs);
      const atMs = Math.ceil((nowMs + afterMs) / slotMs) * slotMs;
      const ids = slots.get(atMs);
      if (ids === undefined) slots.set(atMs, [deliveryId]);
      else ids.push(deliveryId);
      count++;
      if (count >= MOST_WAITING) return flush();
      if (nowMs + waitMs >= flushAtMs) return;
      cancel();
      flushAtMs = nowMs + waitMs;
      cancel = clock.after(waitMs, flush);
    },
    flush,
  };
}

/** A power of two, so that the slots of unlike pauses meet. */
function slotOf(afterMs: number): number {
  return 2 ** Math.floor(Math.log2(Math.min(LONGEST_SLOT_MS, Math.max(1, afterMs * SLOT_SHARE))));
}
