/** The largest number of calls at which a subject still plays in time: doubled until it breaks, then narrowed. */
import type { RunResult } from './measure.ts';

export interface Knee {
  subject: string;
  /** Largest number of calls that held. */
  calls: number;
  /** What broke at the next step. */
  brokeBy: string;
  /** Resident memory that one more call takes, from the smallest step to the largest that held. */
  bytesPerCall: number;
  steps: KneeStep[];
}

interface KneeStep {
  calls: number;
  p99Ms: number;
  sendP99Ms: number | null;
  sampleRatio: number;
  cpuMsPerCallSecond: number;
  residentBytes: number;
  generatorCpuRatio: number;
  held: boolean;
}

const FIRST_CALLS = 200;
const MOST_CALLS = 1_600;
const RESOLUTION_CALLS = 50;
/** Repetitions of a step that is void. */
const MOST_AGAIN = 2;

/** What a subject must keep to hold. */
export interface KneeLimits {
  maxArrivalP99Ms: number;
  minSampleRatio: number;
}

const LIMITS: KneeLimits = { maxArrivalP99Ms: 10, minSampleRatio: 0.995 };

function breakage(result: RunResult, limits: KneeLimits): string | null {
  if (result.voidBecause !== null) return result.voidBecause;
  if (result.report.closedEarly > 0) return `${result.report.closedEarly} sockets closed`;
  if (result.report.sampleRatio.mean < limits.minSampleRatio)
    return `${(result.report.sampleRatio.mean * 100).toFixed(2)} % of real time`;
  if (result.report.arrivalLateness.p99Ms > limits.maxArrivalP99Ms)
    return `p99 ${result.report.arrivalLateness.p99Ms.toFixed(1)} ms late`;
  return null;
}

export async function findKnee(
  subject: string,
  run: (calls: number) => Promise<RunResult>,
  limits = LIMITS,
): Promise<Knee> {
  const knee: Knee = { subject, calls: 0, brokeBy: `nothing up to ${MOST_CALLS} calls`, bytesPerCall: 0, steps: [] };
  let broken = MOST_CALLS + RESOLUTION_CALLS;
  let calls = FIRST_CALLS;
  while (calls > knee.calls && calls < broken) {
    let result = await run(calls);
    // What others took of the machine says nothing of the subject.
    for (let again = 0; result.voidBecause !== null && again < MOST_AGAIN; again++) result = await run(calls);
    const why = breakage(result, limits);
    knee.subject = result.subject;
    knee.steps.push({
      calls,
      p99Ms: result.report.arrivalLateness.p99Ms,
      sendP99Ms: result.sendLateness?.p99Ms ?? null,
      sampleRatio: result.report.sampleRatio.mean,
      cpuMsPerCallSecond: result.cpuMsPerCallSecond,
      residentBytes: result.residentBytes,
      generatorCpuRatio: result.report.cpuRatio,
      held: why === null,
    });
    if (why === null) knee.calls = calls;
    else {
      broken = calls;
      knee.brokeBy = `${result.voidBecause === null ? why : `the machine, not the subject: ${why}`} at ${calls}`;
    }
    const next = broken > MOST_CALLS ? calls * 2 : (knee.calls + broken) / 2;
    calls = Math.min(MOST_CALLS, Math.round(next / RESOLUTION_CALLS) * RESOLUTION_CALLS);
  }
  const held = knee.steps.filter((step) => step.held).sort((a, b) => a.calls - b.calls);
  const [first, last] = [held[0], held.at(-1)];
  if (first !== undefined && last !== undefined && last.calls > first.calls)
    knee.bytesPerCall = (last.residentBytes - first.residentBytes) / (last.calls - first.calls);
  return knee;
}
