/**
 * A line's calls per second, held towards the carrier. A limit that lets a second's worth through at once would let the
 * carrier see twice the rate in one second (the end of one burst and the next), so what is let through is also sent one
 * after the other, 1.05 s / rate apart on the store's clock. The 5 % are for what happens between our clock and the
 * carrier's. Used by `call-limits.ts`.
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { RateAsk } from './gcra.ts';

const MARGIN = 1.05;
/** A client that comes each second sharp comes 50 ms early at one call a second; it is let in and waits. */
const EARLY_US = 500_000;
/** Longer than a burst takes; more waits only when a limit was just lowered. */
const LONGEST_WAIT_US = 3_000_000;
/** Between two sends of this process, whatever the answers of the store did on their way. */
const FLOOR_MARGIN = 1.02;
/** Below 10 ms a timer is no measure any more. */
const FLOOR_MOST_PER_SECOND = 100;
const MOST_LINES = 10_000;
/** A timer cannot wait less. */
const SHORTEST_WAIT_MS = 1;

/** The limit itself: a burst of `perSecond`, at the pace that is sent. */
export function spacedAsk(name: string, perSecond: number): RateAsk {
  if (perSecond <= 0) return { name, periodUs: 60_000_000, toleranceUs: -1 };
  const period = Math.ceil((1_000_000 * MARGIN) / perSecond);
  return {
    name,
    periodUs: period,
    toleranceUs: (perSecond - 1) * period + Math.min(EARLY_US, Math.floor(0.9 * period)),
  };
}

/** One turn after the other: the tat that it finds is the time to wait. */
export function paceAsk(name: string, perSecond: number): RateAsk {
  const period = Math.ceil((1_000_000 * MARGIN) / Math.max(1, perSecond));
  return { name, periodUs: period, toleranceUs: LONGEST_WAIT_US };
}

export interface LineFloor {
  /** `turnMs`: from now, as the store has it. Gives the wait, from now, and counts on its being kept. */
  wait(lineId: string, perSecond: number, turnMs: number): number;
}

export function createLineFloor(clock: Pick<Clock, 'nowMs'>): LineFloor {
  const lastSentAtMs = new Map<string, number>();
  return {
    wait(lineId, perSecond, turnMs) {
      const nowMs = clock.nowMs();
      let atMs = nowMs + turnMs;
      if (perSecond <= FLOOR_MOST_PER_SECOND) {
        const gapMs = (1000 * FLOOR_MARGIN) / Math.max(1, perSecond);
        atMs = Math.max(atMs, (lastSentAtMs.get(lineId) ?? Number.NEGATIVE_INFINITY) + gapMs);
        lastSentAtMs.delete(lineId);
        lastSentAtMs.set(lineId, atMs);
        if (lastSentAtMs.size > MOST_LINES) lastSentAtMs.delete(lastSentAtMs.keys().next().value!);
      }
      const waitMs = atMs - nowMs;
      return waitMs < SHORTEST_WAIT_MS ? 0 : waitMs;
    },
  };
}
