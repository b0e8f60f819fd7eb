/**
 * The floor beside ours, by the raw load of `bench -- calls`: uWebSockets.js alone, and our media process without the
 * rest of the service. CPU in each repetition, and the calls at the knee.
 */
import { findKnee } from '../calls/knee.ts';
import { measure, type RunResult } from '../calls/measure.ts';
import { type Subject, startMediaProcess, startUwsFloor } from '../calls/subjects.ts';
import type { SocketKnee, SocketRun } from './density-result.ts';
import { KNEE_LIMITS } from './kinds.ts';

/** In the order of the card. */
export const SOCKET_SUBJECTS: Record<string, () => Promise<Subject>> = {
  floor: startUwsFloor,
  ours: () => startMediaProcess('uws', 1),
};

const SOCKET_CALLS = 300;
const WARM_UP_MS = 2_000;
const MEASURE_MS = 6_000;
const KNEE_MEASURE_MS = 4_000;
/** Calls begin at the same times in each repetition of each subject. */
const SEED = 2026;

async function runOnce(name: string, calls: number, measureMs: number): Promise<RunResult> {
  const subject = await SOCKET_SUBJECTS[name]!();
  try {
    return await measure(subject, { calls, warmUpMs: WARM_UP_MS, measureMs, seed: SEED });
  } finally {
    await subject.stop();
  }
}

export async function socketRun(name: string, repetition: number): Promise<SocketRun> {
  const { report, ...result } = await runOnce(name, SOCKET_CALLS, MEASURE_MS);
  return {
    repetition,
    subject: result.subject,
    voidBecause: result.voidBecause,
    calls: result.calls,
    cpuMs: result.cpuMsPerCallSecond,
    ioMs: result.ioMsPerCallSecond,
    pipelineMs: result.pipelineMsPerCallSecond,
    arrivalP99Ms: report.arrivalLateness.p99Ms,
    sampleRatioMean: report.sampleRatio.mean,
    residentBytesPerCall: result.residentBytesPerCall,
  };
}

export async function socketKnee(name: string): Promise<SocketKnee> {
  const { subject, calls, brokeBy, bytesPerCall } = await findKnee(
    name,
    (atOnce) => runOnce(name, atOnce, KNEE_MEASURE_MS),
    { maxArrivalP99Ms: KNEE_LIMITS.maxFrameLateP99Ms, minSampleRatio: KNEE_LIMITS.minRealTimeShare },
  );
  return { subject, calls, brokeBy, bytesPerCall };
}
