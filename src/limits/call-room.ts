/**
 * Is there anybody to talk to one more call? Media processes say four times a second how many more they can serve; a
 * call that was accepted here and is not with one of them yet takes one of those places, or the part of one that calls
 * have been answered with of late. What finds none is refused before it is dialled. Asked by admission, placement and
 * web sessions; nothing here outlives the process.
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { QueuePriority } from './fair-queue.ts';

export interface CallRoomSource {
  /**
   * Of all media processes that take calls. `alwaysCalls` of `moreCalls` are there for whoever
   * asks: nothing of them is kept free.
   */
  room(): { moreCalls: number; alwaysCalls: number; carriesCalls: number; scarce: string | null };
}

/** Told not to ask how much room there is (`PARLEY_ADMISSION=counted`): capacity alone decides. */
export const UNMEASURED: CallRoomSource = {
  room: () => ({ moreCalls: Number.POSITIVE_INFINITY, alwaysCalls: 0, carriesCalls: 0, scarce: null }),
};

export interface CallRoom {
  has(priority: QueuePriority): boolean;
  /** False: no room. A call that is taken is forgotten when it is carried or gone. */
  take(callUuid: string, priority: QueuePriority): boolean;
  /** It has a place here that is not given back yet. */
  expects(callUuid: string): boolean;
  /** A media process has it. */
  carried(callUuid: string): void;
  /** It is over; if no media process had it, it was not answered. */
  gone(callUuid: string): void;
  /** It was never dialled. */
  release(callUuid: string): void;
  /** Accepted, and not carried yet. */
  readonly expected: number;
}

/** Until the process that has the call counts it in what it says. */
const COUNTED_AFTER_MS = 500;
/** An answer comes by then, or none does. */
const EXPECTED_MS = 90_000;
/**
 * Kept free, as part of what is carried, but never of what is always taken: who is refused first when there is little
 * room (contract §11).
 */
const KEPT_FREE: Readonly<Record<QueuePriority, number>> = { web: 0.1, campaign: 0.05, api: 0, inbound: 0 };
const LAST_OUTCOMES = 50;
/** Nobody answered of late: still, somebody will. */
const LEAST_ANSWERED = 0.25;
const TELL_EVERY_MS = 10_000;

export function createCallRoom(deps: {
  source: CallRoomSource;
  clock: Pick<Clock, 'nowMs' | 'after'>;
  refusing(why: { scarce: string | null; expected: number }): void;
}): CallRoom {
  const { source, clock } = deps;
  const expected = new Map<string, () => void>();
  /** Part of the accepted calls that were answered. */
  let answeredPart = 1;
  let toldAtMs = Number.NEGATIVE_INFINITY;

  function forget(callUuid: string): boolean {
    const cancel = expected.get(callUuid);
    cancel?.();
    return expected.delete(callUuid);
  }

  function learn(wasAnswered: boolean): void {
    answeredPart += ((wasAnswered ? 1 : 0) - answeredPart) / LAST_OUTCOMES;
  }

  function has(priority: QueuePriority): boolean {
    const { moreCalls, alwaysCalls, carriesCalls, scarce } = source.room();
    const toCome = expected.size * Math.max(LEAST_ANSWERED, answeredPart);
    if (moreCalls - toCome >= 1 + carriesCalls * KEPT_FREE[priority] || alwaysCalls - toCome >= 1) return true;
    const nowMs = clock.nowMs();
    if (nowMs - toldAtMs >= TELL_EVERY_MS) {
      toldAtMs = nowMs;
      deps.refusing({ scarce, expected: expected.size });
    }
    return false;
  }

  return {
    has,
    take(callUuid, priority) {
      if (!has(priority)) return false;
      forget(callUuid);
      expected.set(
        callUuid,
        clock.after(EXPECTED_MS, () => void expected.delete(callUuid)),
      );
      return true;
    },
    expects: (callUuid) => expected.has(callUuid),
    carried(callUuid) {
      if (!forget(callUuid)) return;
      learn(true);
      expected.set(
        callUuid,
        clock.after(COUNTED_AFTER_MS, () => void expected.delete(callUuid)),
      );
    },
    gone(callUuid) {
      if (forget(callUuid)) learn(false);
    },
    release: (callUuid) => void forget(callUuid),
    get expected() {
      return expected.size;
    },
  };
}
