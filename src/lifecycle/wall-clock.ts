/**
 * A wall clock that was set. The timers of calls are wall time, because rows outlive processes; that it was set is seen
 * by its distance from the monotonic clock. Where it was set forward, the timers of the calls of before count on as if
 * it had not been; where that is taken back, so is this. For `reaper.ts`.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';

export interface WallClock {
  /** True: it was set since the last look. */
  look(): boolean;
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

  /** The latest first. */
  function takeBack(ms: number): void {
    for (let leftMs = ms; leftMs > 0; ) {
      const step = steps.at(-1);
      if (step === undefined) return;
      const takenMs = Math.min(leftMs, step.byMs);
      step.byMs -= takenMs;
      leftMs -= takenMs;
      if (step.byMs === 0) steps.pop();
    }
  }

  return {
    look() {
      const byMs = clock.epochMs() - clock.nowMs() - offsetMs;
      offsetMs += byMs;
      if (Math.abs(byMs) < STEP_MS) return false;
      log.warn(
        { byMs: Math.round(byMs) },
        'the wall clock was set; timers of calls go on by the time that has really passed',
      );
      if (byMs < 0) takeBack(-byMs);
      else steps.push({ atEpochMs: clock.epochMs() - byMs, byMs });
      if (steps.length > STEPS_REMEMBERED) steps.shift();
      return true;
    },
    passedEpochMs: (since) =>
      steps.reduce((left, { atEpochMs, byMs }) => (since.getTime() <= atEpochMs ? left - byMs : left), clock.epochMs()),
  };
}
