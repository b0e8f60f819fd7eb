/** The machine on which a run is made: what it is, and how quiet. Called by `main.ts` before a run. */
import { cpus, loadavg, release, type as systemName, totalmem } from 'node:os';
import { startNoiseProbe } from '../../calls/noise-probe.ts';
import { type MachineTime, readMachineTime } from '../../harness/machine-time.ts';
import type { RunResult } from '../contract/run-result.ts';

const PROBE_MS = 2_000;

/** Takes two seconds: that long a thread that does nothing is watched. */
export async function readMachine(): Promise<RunResult['machine']> {
  const probe = startNoiseProbe(() => readTime() ?? { stealMs: 0, totalMs: 0 });
  await new Promise((done) => setTimeout(done, PROBE_MS));
  const { p99Ms, stealRatio } = await probe.stop();
  const processors = cpus();
  return {
    cpu: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryBytes: totalmem(),
    system: `${systemName()} ${release()}`,
    loadBefore: loadavg()[0] ?? 0,
    noiseP99Ms: p99Ms,
    stealShare: readTime() === null ? null : stealRatio,
  };
}

/** What a person should know of it before they believe milliseconds; empty: it is quiet. */
export function noiseWarnings({ noiseP99Ms, stealShare, loadBefore, cores }: RunResult['machine']): string[] {
  const warnings: string[] = [];
  if (noiseP99Ms !== null && noiseP99Ms > 5) {
    warnings.push(
      `the machine is noisy: a thread that does nothing is woken ${noiseP99Ms.toFixed(1)} ms late at p99; milliseconds of this run are partly its own`,
    );
  }
  if (stealShare !== null && stealShare > 0.05) {
    warnings.push(`${(stealShare * 100).toFixed(0)} % of the processor were taken by other guests of its host`);
  }
  if (loadBefore > cores) {
    warnings.push(`the machine was busy before the run: load average ${loadBefore.toFixed(1)} on ${cores} cores`);
  }
  return warnings;
}

/** Null where the system does not tell. */
function readTime(): MachineTime | null {
  try {
    return readMachineTime();
  } catch {
    return null;
  }
}
