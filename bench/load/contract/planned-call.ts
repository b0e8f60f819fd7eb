/**
 * One call of the schedule, with every choice made: the same seed makes the same calls, whatever happens to them.
 * Made by `workload/`, given to a target at its instant.
 */
import type { Network, Talk, WorkloadCaller } from './workload.ts';

export interface PlannedCall {
  /** 0, 1, 2… in order of `atMs`. */
  index: number;
  /** Of the run's beginning. Every delay of the call counts from here. */
  atMs: number;
  /** Whose name the report shows. */
  caller: string;
  by: WorkloadCaller['by'];
  codec: WorkloadCaller['codec'];
  ringMs: number;
  outcome: 'answer' | 'no_answer' | 'busy' | 'declined';
  /** From the answer to the far end's hang-up. */
  lengthMs: number;
  talk: Talk;
  network: Network;
  /** After the answer; null: its socket is not dropped. */
  resumesAtMs: number | null;
  /** Of the call's own chances (jitter, lengths of pauses, order of clips). */
  seed: number;
}
