/**
 * What the options of a run come to: the plans of the far-end processes, and what is found or started before those are
 * told where the target is. Made by `choose-target.ts`, used by the run command.
 */
import type { RunResult } from '../contract/run-result.ts';
import type { Workload } from '../contract/workload.ts';
import type { WebhookListener } from '../run/webhook-listener.ts';
import type { RunFlags } from '../run-flags.ts';
import type { GarbageCount } from '../usage/garbage-count.ts';
import type { WatchedProcess } from '../usage/process-usage.ts';
import type { Deployment, TargetPlan } from './target-plan.ts';

export interface ChoiceOptions {
  flags: RunFlags;
  workload: Workload;
  soundFolder: string | null;
  processes: number;
  mostAtOnce: number;
  /** Of the far ends' jitter buffer. */
  gapBufferMs: number;
  nowMs: () => number;
  say(line: string): void;
  /** What is started at once must be stopped, however far the run comes. */
  onStop(stop: () => unknown): void;
}

export interface ChosenTarget {
  kind: RunResult['target']['kind'];
  /** One for each far-end process. */
  plans: TargetPlan[];
  /** Once the far ends listen: a service needs to know its carrier. */
  prepare(carrierBases: readonly (string | null)[]): Promise<PreparedTarget>;
}

export interface PreparedTarget {
  /** `version` is null where only the target itself can tell. */
  facts: RunResult['target'];
  /** What far ends are told; null: their plans say it. */
  deployment: Deployment | null;
  /** What to set there, for a person; null: nothing. */
  advice: string | null;
  processes(): WatchedProcess[];
  /** What runs for its sake and is no part of it, such as emulated providers. */
  beside: WatchedProcess[];
  metricsUrl: string | null;
  databaseUrl: string | null;
  garbage: GarbageCount | null;
  webhooks: WebhookListener | null;
  stop(): Promise<void>;
}
