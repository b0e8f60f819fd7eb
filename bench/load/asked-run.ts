/**
 * What a run is asked to be, by its options and its workload file: read and looked through before anything is started.
 * Called by the run command. Each fault is wrong use and names the option and the way out.
 */
import { TargetFault } from './contract/target.ts';
import type { Workload } from './contract/workload.ts';
import { type Condition, parseCondition } from './result/fail-if.ts';
import { descriptorFault } from './run/descriptor-limit.ts';
import type { RunFlags } from './run-flags.ts';
import { numberOf } from './targets/option-values.ts';
import type { ReplayLogs } from './workload/arrivals.ts';
import { figuresOf, type ScheduleFigures } from './workload/dry-run.ts';
import { readWorkload, scenarioPath } from './workload/read-workload.ts';
import { readReplayLog } from './workload/replay-log.ts';
import { phasesLastMs, planCalls, stepOfKnee } from './workload/schedule.ts';

export interface AskedRun {
  workload: Workload;
  /** Call logs that phases replay, by path. */
  logs: ReplayLogs;
  conditions: Condition[];
  /** Of the schedule; of a search's first step. */
  figures: ScheduleFigures;
  /** Calls, should it come to the most. */
  mostAtOnce: number;
  /** Of far ends. */
  processes: number;
  limitMs: number;
  gapBufferMs: number;
}

const CODECS = ['pcm16', 'mulaw', 'opus'] as const;

/** Throws a `TargetFault`, a `WorkloadFault` or a `ConditionFault`. */
export function readAskedRun(flags: RunFlags): AskedRun {
  const conditions = flags.failIf.map(parseCondition);
  const workload = withFlags(readWorkload(flags.workload ?? scenarioPath(flags.scenario)), flags);
  for (const condition of workload.knee?.unless ?? []) parseCondition(condition);
  const logs: ReplayLogs = new Map(
    workload.phases.flatMap((phase) => (phase.arrivals === 'replay' ? [[phase.path, readReplayLog(phase.path)]] : [])),
  );
  const first = workload.knee === undefined ? workload : stepOfKnee(workload, workload.knee.from, workload.seed);
  const figures = figuresOf(planCalls(first, logs), phasesLastMs(first, logs));
  return {
    workload,
    logs,
    conditions,
    figures,
    mostAtOnce: Math.min(workload.mostAtOnce, mostOf(workload, figures.mostAtOnce)),
    processes: Math.round(numberOf(flags.processes, '--processes', { least: 1, most: 64 })),
    limitMs: numberOf(flags.limitMs, '--limit-ms', { least: 0.1, most: 10_000 }),
    gapBufferMs: numberOf(flags.gapBufferMs, '--gap-buffer-ms', { least: 0, most: 5_000 }),
  };
}

/** What would go wrong in mid-run only: throws a `TargetFault`. Nothing of it matters to a dry run. */
export function assertCanRun({ workload, mostAtOnce, processes }: AskedRun, flags: RunFlags): void {
  const mayShare = isForStreams(flags) || workload.callers.every(({ by }) => by === 'browser');
  const fault = descriptorFault({ mostAtOnce, processes, mayShare });
  if (fault !== null) throw new TargetFault(fault);
  if (workload.restartsAtSeconds.length > 0 && flags.restartCommand === undefined) {
    throw new TargetFault(
      `${workload.name} restarts the target at ${workload.restartsAtSeconds.join(', ')} s: say how with --restart-command "<command>"`,
    );
  }
}

/** What options say stands over what the file says. */
function withFlags(workload: Workload, flags: RunFlags): Workload {
  const { seed, codec, publicKey, apiKey } = flags;
  const wanted = CODECS.find((name) => name === codec);
  if (codec !== undefined && wanted === undefined) {
    throw new TargetFault(`--codec ${codec}: take one of ${CODECS.join(', ')}`);
  }
  if (seed !== undefined && !/^\d{1,10}$/.test(seed)) throw new TargetFault(`--seed ${seed}: write a whole number`);
  const visitor = workload.callers.find(({ by }) => by === 'browser');
  if (visitor !== undefined && isForStreams(flags)) {
    throw new TargetFault(
      `${workload.name}: the caller "${visitor.name}" is a browser, and a carrier's stream has phones alone; write "by": "phone", or name a Parley with --url and --public-key`,
    );
  }
  const isForBrowsers = publicKey !== undefined && apiKey === undefined && !process.env['PARLEY_LOAD_API_KEY'];
  return {
    ...workload,
    seed: seed === undefined ? workload.seed : Number(seed),
    callers: workload.callers.map((caller) => ({
      ...caller,
      by: isForBrowsers ? 'browser' : caller.by,
      codec: wanted ?? caller.codec,
    })),
  };
}

const isForStreams = ({ stream, answerUrl, against }: RunFlags): boolean =>
  [stream, answerUrl, against].some((address) => address !== undefined);

/** Of a search the greatest step, should it come to that. */
function mostOf({ knee }: Workload, planned: number): number {
  return knee?.of === 'calls' ? knee.to : planned;
}
