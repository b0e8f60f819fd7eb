/**
 * What a run (or one step of a search) has measured so far: the calls, the tool's own lateness and load, the target's
 * seconds. Fed while it runs, asked for a result at its end or at its stop.
 */
import type { MeasuredCall } from '../contract/measured-call.ts';
import type { RunResult } from '../contract/run-result.ts';
import type { Workload } from '../contract/workload.ts';
import { createGatherer, type Gatherer, type RunEnd } from '../result/gather.ts';
import { asHeard } from '../result/never-heard.ts';
import { createTimes } from '../result/times.ts';
import type { UsageSecond } from '../usage/target-usage.ts';
import type { OwnSecond } from './far-end-orders.ts';

/** What is the same for a run and each of its steps, or is known only outside. */
export type OtherFacts = Omit<RunEnd, 'generator'> & { limitMs: number };

/** So long a process must have been busy to count as that: a burst of it is none. */
const BUSY_SECONDS = 10;

export class Recorder {
  readonly #gatherer: Gatherer;
  readonly #frameLateness = createTimes();
  readonly #recentShares = new Map<string, number[]>();
  #cpuShare = 0;
  #calls = 0;
  #talkedMs = 0;
  #bad = 0;
  #mostLive = 0;

  constructor(workload: Workload, forget: (recordingPath: string) => void) {
    this.#gatherer = createGatherer({ workload, onForgottenRecording: forget });
  }

  /** Calls that failed, were lost, or refused; and all that were measured. */
  get figures(): { calls: number; bad: number; talkedMs: number } {
    return { calls: this.#calls, bad: this.#bad, talkedMs: this.#talkedMs };
  }

  get mostLive(): number {
    return this.#mostLive;
  }

  live(calls: number): void {
    this.#mostLive = Math.max(this.#mostLive, calls);
  }

  measured(measured: MeasuredCall): void {
    const call = asHeard(measured);
    this.#calls++;
    if (call.fate === 'failed' || call.fate === 'lost' || call.fate === 'refused') this.#bad++;
    if (call.answeredAtMs !== null && call.endedAtMs !== null) this.#talkedMs += call.endedAtMs - call.answeredAtMs;
    this.#gatherer.add(call);
  }

  /** Of one process of the tool, by its name. */
  ownSecond(process: string, { cpuShare, frameLateTenthsMs }: OwnSecond): void {
    for (const [tenths, frames] of frameLateTenthsMs) this.#frameLateness.add(tenths / 10, frames);
    const recent = this.#recentShares.get(process) ?? [];
    this.#recentShares.set(process, recent);
    recent.push(cpuShare);
    if (recent.length > BUSY_SECONDS) recent.shift();
    if (recent.length < BUSY_SECONDS) return;
    this.#cpuShare = Math.max(this.#cpuShare, recent.reduce((sum, share) => sum + share, 0) / recent.length);
  }

  targetSecond(atMs: number, second: UsageSecond): void {
    this.#gatherer.tick({ atMs, ...second });
  }

  finish({ limitMs, ...facts }: OtherFacts): RunResult {
    const generator = {
      limitMs,
      frameLatenessMs: this.#frameLateness.distribution(),
      cpuShare: Math.min(1, this.#cpuShare),
    };
    return this.#gatherer.finish({ ...facts, generator });
  }
}
