/**
 * From the load tester's result to the figures of a row, and from its search to a knee. Pure: the same stored result
 * always gives the same figures.
 */
import type { RunResult } from '../load/contract/run-result.ts';
import { noiseWarnings } from '../load/usage/machine-facts.ts';
import type { RowRun, ServiceKnee } from './density-result.ts';

/** What stands beside the service, and is no part of it. */
export const isOfTool = (process: string): boolean => process.startsWith('tool');

const JUDGED_BY_TOOL = 'the tool could not judge';

export function rowRunOf(result: RunResult, repetition: number): RowRun {
  const { calls, measures, usage, machine } = result;
  const callSeconds = calls.talkMs / 1_000;
  // The run before is still in the load average, and is no noise.
  const noise = noiseWarnings({ ...machine, loadBefore: 0 });
  return {
    repetition,
    voidBecause: voidBecause(result),
    noise: noise.length === 0 ? null : noise.join('; '),
    talked: calls.talked,
    mostAtOnce: calls.mostAtOnce,
    processes: processesOf(usage),
    threads: usage.threads.map(({ process, thread, cpuMs }) => ({ process, thread, cpuMs: cpuMs / callSeconds })),
    residentBytesPerCall: usage.residentBytesPerCall,
    commitsPerCall: usage.commitsPerCall,
    walBytesPerCall: usage.walBytesPerCall,
    frameLateP99Ms: measures.frameLatenessMs.p99,
    realTimeShareMean: measures.realTimeShareMean,
    replyP95Ms: measures.replyMs.p95,
  };
}

function voidBecause({ complete, incompleteBecause, generator, calls, usage }: RunResult): string | null {
  if (!complete) return incompleteBecause ?? 'it was stopped';
  if (!generator.judged) return generator.why ?? 'the load tester was late itself';
  const wrong = calls.failed + calls.lost + calls.refused;
  if (wrong > 0) return `${wrong} of ${calls.planned} calls went wrong`;
  if (usage.cpuMsPerCallSecond === null || calls.talkMs === 0) return 'the processes of the service were not seen';
  return null;
}

/** All processes were watched for the same time, so the whole divides among them as their cores do. */
function processesOf({ processes, cpuMsPerCallSecond }: RunResult['usage']): RowRun['processes'] {
  const cores = processes
    .filter(({ name }) => !isOfTool(name))
    .reduce((sum, { cpuMeanCores }) => sum + (cpuMeanCores ?? 0), 0);
  if (cpuMsPerCallSecond === null || cores === 0) return [];
  return processes.map(({ name, cpuMeanCores }) => ({
    name,
    cpuMs: ((cpuMeanCores ?? 0) / cores) * cpuMsPerCallSecond,
  }));
}

export function serviceKneeOf(knee: NonNullable<RunResult['knee']>, limits: ServiceKnee['limits']): ServiceKnee {
  const { carried, notCarried, low, high, steps } = knee;
  const bad = steps.filter(({ load, good }) => load === notCarried && !good);
  const brokeBy = [...new Set(bad.flatMap(({ why }) => why))];
  return {
    limits,
    carried,
    notCarried,
    low,
    high,
    brokeBy,
    isOfTool: bad.length > 0 && bad.every(({ why }) => why.some((one) => one.startsWith(JUDGED_BY_TOOL))),
  };
}
