/**
 * The search for the knee as a run: each step is a workload of one load, recorded by itself and for the whole, and
 * judged by the workload's own conditions. Called by the run command.
 */
import type { RunResult } from '../contract/run-result.ts';
import type { Workload } from '../contract/workload.ts';
import { judgeCondition, parseCondition } from '../result/fail-if.ts';
import type { ReplayLogs } from '../workload/arrivals.ts';
import { stepOfKnee } from '../workload/schedule.ts';
import { findKnee, type KneeStep } from './find-knee.ts';
import { type OtherFacts, Recorder } from './recorder.ts';
import { type RunParts, runWorkload } from './run-workload.ts';

export interface KneeSearch {
  workload: Workload;
  logs: ReplayLogs;
  /** Of the whole; each step's is among them while it runs. */
  recorders: Recorder[];
  parts: RunParts;
  facts: Pick<OtherFacts, 'limitMs' | 'tool' | 'machine' | 'target'>;
}

/** Between two steps: calls end at the target too, and what they left is collected. */
const REST_MS = 2_000;
/** Steps have warm ends: calls of a step are told apart by the run's own indexes. */
const INDEXES_A_STEP = 1_000_000;

export async function searchKnee({ workload, logs, recorders, parts, facts }: KneeSearch): Promise<{
  knee: RunResult['knee'];
  incompleteBecause: string | null;
  warnings: string[];
}> {
  const { unless } = workload.knee!;
  const conditions = unless.map(parseCondition);
  let incompleteBecause: string | null = null;
  const warnings: string[] = [];
  let at = 0;

  async function step(load: number, name: string): Promise<KneeStep | null> {
    // The same calls in each repetition would repeat one draw of chance.
    const asked = stepOfKnee(workload, load, workload.seed + at);
    // Recordings belong to the whole run.
    const own = new Recorder({ ...asked, warmUpSeconds: 0 }, () => {});
    recorders.push(own);
    const fromMs = parts.clock.nowMs();
    const done = await runWorkload(
      { workload: asked, logs, recorders, fromMs, fromIndex: at++ * INDEXES_A_STEP, step: name },
      parts,
    );
    recorders.splice(recorders.indexOf(own), 1);
    incompleteBecause ??= done.incompleteBecause;
    warnings.push(...done.warnings);
    if (done.incompleteBecause !== null) return null;
    const tookMs = parts.clock.nowMs() - fromMs;
    const result = own.finish({ ...facts, ...STEP_FACTS, tookMs, startedAt: new Date().toISOString() });
    const judged = conditions.map((condition) => judgeCondition(condition, result));
    const why = judged.filter(({ isTrue }) => isTrue).map(({ sentence }) => sentence);
    // A step that the tool itself could not keep up with says nothing good of the target.
    if (!result.generator.judged) why.push(`the tool could not judge: ${result.generator.why}`);
    process.stderr.write(`${name}: ${why.length === 0 ? 'carried' : why.join('; ')}\n`);
    await new Promise((rested) => parts.clock.after(REST_MS, () => rested(undefined)));
    return {
      load,
      good: why.length === 0,
      why,
      replyP95Ms: result.measures.replyMs.p95,
      frameLateP99Ms: result.measures.frameLatenessMs.p99,
      gapsPerCallMinute: result.measures.gapsPerCallMinute,
      errorShare: result.measures.errorShare,
      cpuCores: cpuOf(result),
    };
  }

  const knee = await findKnee(workload.knee!, step);
  return { knee, incompleteBecause, warnings };
}

const STEP_FACTS = {
  complete: true,
  incompleteBecause: null,
  usage: {
    processes: [],
    cpuMsPerCallSecond: null,
    residentBytesPerCall: null,
    garbageBytesPerFramePair: null,
    commitsPerCall: null,
    walBytesPerCall: null,
  },
  knee: null,
};

/** Of the target's processes together, mean of the seconds in which they were seen. */
function cpuOf({ timeline }: RunResult): number | null {
  const seconds = timeline
    .map(({ cpuCores }) => Object.entries(cpuCores).filter(([name]) => !name.startsWith('tool')))
    .filter((processes) => processes.length > 0)
    .map((processes) => processes.reduce((sum, [, cores]) => sum + cores, 0));
  return seconds.length === 0 ? null : seconds.reduce((sum, cores) => sum + cores, 0) / seconds.length;
}
