/**
 * What a run loads: a Parley by address, browser sessions, any voice bot that takes carrier media streams. Made by
 * `targets/`, driven by `run/`.
 */
import type { MeasuredCall } from './measured-call.ts';
import type { PlannedCall } from './planned-call.ts';
import type { RunResult } from './run-result.ts';

export interface Target {
  describe(): RunResult['target'];
  /**
   * Looks whether a run can begin at all: address, key, agent, line, protocol. Rejects with a `TargetFault` that says
   * what to set.
   */
  check(): Promise<void>;
  /**
   * One call, from its instant to its end; resolves when it is over, never rejects. `nowMs` is the run's clock.
   */
  call(planned: PlannedCall): Promise<MeasuredCall>;
  /** Hangs up whatever goes on; resolves when nothing rings any more, within `limitMs`. */
  hangUpAll(limitMs: number): Promise<void>;
  close(): Promise<void>;
}

/** The run cannot begin: wrong use, exit code 2. The message names the option and the way out. */
export class TargetFault extends Error {}

export interface RunClock {
  /** Milliseconds of the run's beginning, monotonic. */
  nowMs(): number;
}
