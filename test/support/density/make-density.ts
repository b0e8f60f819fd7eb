/** Results of the density bench that nobody measured, for the tests of its arithmetic and of its card. */
import type { DensityResult, DensityRow, RowRun } from '../../../bench/density/density-result.ts';

export function runOf(changes: Partial<RowRun> = {}): RowRun {
  return {
    ...{ repetition: 1, voidBecause: null, noise: null, talked: 10, mostAtOnce: 10 },
    processes: [
      { name: 'control', cpuMs: 2 },
      { name: 'media-0', cpuMs: 6 },
      { name: 'postgres', cpuMs: 2 },
      { name: 'tool', cpuMs: 1 },
      { name: 'tool: far end 1', cpuMs: 5 },
      { name: 'tool: emulated providers', cpuMs: 3 },
    ],
    threads: [
      { process: 'media-0', thread: 'pipeline-0', cpuMs: 4 },
      { process: 'media-0', thread: 'main', cpuMs: 1.5 },
      { process: 'control', thread: 'main', cpuMs: 1.8 },
      { process: 'media-0', thread: 'tts-thread', cpuMs: 0.5 },
    ],
    ...{ residentBytesPerCall: 400_000, commitsPerCall: 20, walBytesPerCall: 30_000 },
    ...{ frameLateP99Ms: 3, realTimeShareMean: 1, replyP95Ms: 600 },
    ...changes,
  };
}

export function rowOf(changes: Partial<DensityRow> = {}): DensityRow {
  return {
    ...{
      id: 'scripted',
      agent: 'scripted, local engines',
      codec: 'mu-law 8 kHz',
      calls: 10,
      callSeconds: 20,
      missingBecause: null,
    },
    runs: [runOf()],
    ...{ held: null, knee: null, noKneeBecause: null },
    ...changes,
  };
}

export function densityOf(changes: Partial<DensityResult> = {}): DensityResult {
  return {
    ...{ format: 'parley-density', version: 1, startedAt: '2026-11-20T10:15:00.000Z', tookMs: 1_320_000 },
    ...{ repetitions: 5, isQuick: false },
    tool: { version: '0.1.0', commit: '0123456789ab', node: 'v20.20.2' },
    machine: {
      ...{ cpu: 'An ordinary processor', cores: 2, memoryBytes: 24e9, system: 'Linux 6.1' },
      ...{ loadBefore: 0.21, noiseP99Ms: 0.4, stealShare: 0.001 },
    },
    rows: [rowOf()],
    sockets: { runs: [], knees: [] },
    ...changes,
  };
}
