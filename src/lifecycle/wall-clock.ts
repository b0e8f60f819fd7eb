/**
 * A wall clock that was set. The timers of calls are wall time, because rows outlive processes; that it was set is seen
 * by its distance from the monotonic clock, and the timers of the calls of before count on as if it had not been. For
 * `reaper.ts`.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';

export interface WallClock {
  /** Since the last time that this was asked. */
  wasSet(): boolean;
  /** Now, less by what the clock was set forward since then. */
  passedEpochMs(since: Date): number;
}

/** Smaller corrections are the time service's daily work. */
const STEP_MS = 5_000;
const STEPS_REMEMBERED = 8;

export function createWallClock(clock: Pick<Clock, 'epochMs' | 'nowMs'>, log: Pick<Logger, 'warn'>): WallClock {
  let offsetMs = clock.epochMs() - clock.nowMs();
  /** Forward only. `atEpochMs` is the wall time before it. */
  const steps: { atEpochMs: number; byMs: number }[] = [];
  return {
    wasSet() {
      const byMs = clock.epochMs() - clock.nowMs() - offsetMs;
      offsetMs += byMs;
      if (Math.abs(byMs) < STEP_MS) return false;
      log.warn(
        { byMs: Math.round(byMs) },
        'the wall clock was set; timers of calls go on by the time that has really passed',
      );
      if (byMs > 0) steps.push({ atEpochMs: clock.epochMs() - byMs, byMs });
      if (steps.length > STEPS_REMEMBERED) steps.shift();
      return true;
    },
    passedEpochMs: (since) =>
      steps.reduce((left, { atEpochMs, byMs }) => (since.getTime() <= atEpochMs ? left - byMs : left), clock.epochMs()),
  };
}
