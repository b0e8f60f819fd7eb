/**
 * The arithmetic of the card: medians with their spread over the repetitions, calls a core, and what is at its limit
 * first. Pure.
 *
 * Calls a core = 1000 / milliseconds of processor that the service spends for one second of one call. It is a rate of
 * cost, taken at a load that leaves room; how far it holds when cores are full, the knee says.
 */
import { percentiles } from '../harness/percentile.ts';
import type { DensityRow, RowRun } from './density-result.ts';
import type { KneeLimits } from './kinds.ts';
import { isOfTool } from './row-run.ts';

export interface Spread {
  min: number;
  median: number;
  max: number;
}

/** Null: of nothing. */
export function spreadOf(values: readonly (number | null)[]): Spread | null {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return null;
  const [min, median, max] = percentiles(known, [0, 0.5, 1]);
  return { min: min!, median: median!, max: max! };
}

/** Runs that say something of the service. */
export const validRuns = ({ runs }: Pick<DensityRow, 'runs'>): RowRun[] =>
  runs.filter(({ voidBecause }) => voidBecause === null);

const sum = (values: readonly number[]): number => values.reduce((whole, one) => whole + one, 0);

/** Of the whole service: control, PostgreSQL, media. */
export const serviceMs = ({ processes }: RowRun): number =>
  sum(processes.filter(({ name }) => !isOfTool(name)).map(({ cpuMs }) => cpuMs));

/** Of the far ends, the tool and emulated providers. */
export const besideMs = ({ processes }: RowRun): number =>
  sum(processes.filter(({ name }) => isOfTool(name)).map(({ cpuMs }) => cpuMs));

/** Of processes whose names begin so: there may be several media processes. */
export const processMs = ({ processes }: RowRun, begins: string): number =>
  sum(processes.filter(({ name }) => name.startsWith(begins)).map(({ cpuMs }) => cpuMs));

export const callsACore = (cpuMsPerCallSecond: number): number => 1_000 / cpuMsPerCallSecond;

/** The dear end of the cost is the low end of the calls. */
export function callsACoreOf(cpuMs: Spread): Spread {
  return { min: callsACore(cpuMs.max), median: callsACore(cpuMs.median), max: callsACore(cpuMs.min) };
}

export interface Limit {
  /** `media-0: pipeline-0`, or the cores of the machine. */
  what: string;
  /** At so many calls at once. */
  calls: number;
}

/**
 * What would be full first if the load rose and its cost stayed as it is: one thread, which no second core helps, or
 * all cores of the machine with the service alone on them. Medians over the runs; null without runs.
 */
export function firstLimit(runs: readonly RowRun[], cores: number): Limit | null {
  const whole = spreadOf(runs.map(serviceMs));
  if (whole === null || whole.median === 0) return null;
  const machine = { what: cores === 1 ? 'the core' : `the ${cores} cores`, calls: cores * callsACore(whole.median) };
  return threadLimits(runs).reduce((first, one) => (one.calls < first.calls ? one : first), machine);
}

/** The dearest first. */
function threadLimits(runs: readonly RowRun[]): Limit[] {
  const names = new Set(runs.flatMap(({ threads }) => threads.map(nameOf)));
  return [...names]
    .map((what) => {
      const spent = runs.map(({ threads }) => threads.find((one) => nameOf(one) === what)?.cpuMs ?? 0);
      return { what, calls: callsACore(spreadOf(spent)!.median) };
    })
    .sort((a, b) => a.calls - b.calls);
}

const nameOf = ({ process, thread }: RowRun['threads'][number]): string => `${process}: ${thread}`;

/**
 * What a step of the search must keep: the limits of the card, or, where a row at its stated load is not that good
 * already, as much worse than there. What an utterance's beginning and end cost is no knee.
 */
export function kneeLimitsOf(runs: readonly RowRun[], limits: KneeLimits): KneeLimits {
  const lateMs = spreadOf(runs.map((run) => run.frameLateP99Ms))?.median ?? 0;
  const share = spreadOf(runs.map((run) => run.realTimeShareMean))?.median ?? 1;
  const { maxFrameLateP99Ms, minRealTimeShare } = limits;
  return {
    maxFrameLateP99Ms: lateMs <= maxFrameLateP99Ms ? maxFrameLateP99Ms : Math.ceil(lateMs + maxFrameLateP99Ms),
    minRealTimeShare: share >= minRealTimeShare ? minRealTimeShare : share - (1 - minRealTimeShare),
  };
}

/** Milliseconds of media's threads whose names begin so, of one run. */
export const mediaThreadMs = ({ threads }: RowRun, begins: string): number =>
  sum(
    threads
      .filter(({ process, thread }) => process.startsWith('media') && thread.startsWith(begins))
      .map(({ cpuMs }) => cpuMs),
  );
