/** The largest number of calls at which a subject still plays in time: doubled until it breaks, then narrowed. */
import type { RunResult } from './measure.ts';

export interface Knee {
  subject: string;
  /** Largest number of calls that held. */
  calls: number;
  /** What broke at the next step. */
  brokeBy: string;
  steps: { calls: number; p99Ms: number; sampleRatio: number; cpuMsPerCallSecond: number; held: boolean }[];
}

const FIRST_CALLS = 100;
const MOST_CALLS = 1_600;
const RESOLUTION_CALLS = 50;
const MAX_ARRIVAL_P99_MS = 10;
const MIN_SAMPLE_RATIO = 0.995;

function breakage(result: RunResult): string | null {
  if (result.report.closedEarly > 0) return `${result.report.closedEarly} sockets closed`;
  if (result.report.sampleRatio.mean < MIN_SAMPLE_RATIO)
    return `${(result.report.sampleRatio.mean * 100).toFixed(1)} % of real time`;
  if (result.report.arrivalLateness.p99Ms > MAX_ARRIVAL_P99_MS)
    return `p99 ${result.report.arrivalLateness.p99Ms.toFixed(1)} ms late`;
  return null;
}

export async function findKnee(subject: string, run: (calls: number) => Promise<RunResult>): Promise<Knee> {
  const knee: Knee = { subject, calls: 0, brokeBy: 'nothing up to the generator’s own limit', steps: [] };
  let broken = MOST_CALLS + RESOLUTION_CALLS;
  let calls = FIRST_CALLS;
  while (calls > knee.calls && calls < broken) {
    const result = await run(calls);
    const why = breakage(result);
    knee.subject = result.subject;
    knee.steps.push({
      calls,
      p99Ms: result.report.arrivalLateness.p99Ms,
      sampleRatio: result.report.sampleRatio.mean,
      cpuMsPerCallSecond: result.cpuMsPerCallSecond,
      held: why === null,
    });
    if (why === null) knee.calls = calls;
    else {
      broken = calls;
      knee.brokeBy = `${why} at ${calls}`;
    }
    const next = broken > MOST_CALLS ? calls * 2 : (knee.calls + broken) / 2;
    calls = Math.min(MOST_CALLS, Math.round(next / RESOLUTION_CALLS) * RESOLUTION_CALLS);
  }
  return knee;
}
