/** The virtual clock as tests need it: timers can be counted, and the wall clock be moved. */
import { VirtualClock as PlainClock } from '../../bench/harness/virtual-clock.ts';

export class VirtualClock extends PlainClock {
  /** Timers that have not run and were not cancelled. */
  get pendingTimers(): number {
    return this.timers.length;
  }

  /** The wall clock jumps; monotonic time does not. */
  setEpochMs(epochMs: number): void {
    this.epochAtZeroMs = epochMs - this.nowMs();
  }
}
