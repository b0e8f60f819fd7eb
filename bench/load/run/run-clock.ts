/**
 * The run's clock, the same in every process of the tool: milliseconds of the run's beginning, from the machine's one
 * monotonic clock, which all processes share. Made by the main process; the others are told its beginning.
 */
import type { Clock } from '../../../media/contract/clock.ts';
import type { RunClock } from '../contract/target.ts';

/** Of the machine's monotonic clock; its zero point is the machine's, not the process's. */
export function machineNowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export interface SettableRunClock extends Clock, RunClock {
  /**
   * From now on the run began then, of `machineNowMs`: what came before was preparing. Nothing may be timed just now.
   */
  begin(beganAtMs: number): void;
}

/** `beganAtMs`: of `machineNowMs`. */
export function createRunClock(beganAtMs: number): SettableRunClock {
  // This process's own cheap clock, moved so that it says the run's time.
  const zeroOf = (atMs: number): number => performance.now() - (machineNowMs() - atMs);
  let zeroMs = zeroOf(beganAtMs);
  return {
    nowMs: () => performance.now() - zeroMs,
    epochMs: () => Date.now(),
    after(afterMs, run) {
      const timer = setTimeout(run, Math.max(0, afterMs));
      return () => clearTimeout(timer);
    },
    begin(atMs) {
      zeroMs = zeroOf(atMs);
    },
  };
}
