/** The bench's tables: medians over the repetitions, with the smallest and the largest beside them. */
import type { Knee } from './knee.ts';
import type { RunResult } from './measure.ts';

function medianOf(values: number[]): { median: number; min: number; max: number } {
  const sorted = [...values].sort((a, b) => a - b);
  return { median: sorted[Math.floor(sorted.length / 2)] ?? 0, min: sorted[0] ?? 0, max: sorted.at(-1) ?? 0 };
}

function cell(values: number[], digits: number): string {
  const { median, min, max } = medianOf(values);
  return `${median.toFixed(digits)} [${min.toFixed(digits)}–${max.toFixed(digits)}]`;
}

const ROWS: { name: string; digits: number; value: (result: RunResult) => number }[] = [
  { name: 'CPU ms per call-second', digits: 2, value: (result) => result.cpuMsPerCallSecond },
  {
    name: 'CPU ms per second played',
    digits: 2,
    value: (result) => result.cpuMsPerCallSecond / result.report.sampleRatio.mean,
  },
  { name: '  its busiest thread', digits: 2, value: (result) => result.threads[0]?.cpuMsPerCallSecond ?? 0 },
  { name: '  its second thread', digits: 2, value: (result) => result.threads[1]?.cpuMsPerCallSecond ?? 0 },
  { name: 'far end late p50 ms', digits: 2, value: (result) => result.report.arrivalLateness.p50Ms },
  { name: 'far end late p99 ms', digits: 2, value: (result) => result.report.arrivalLateness.p99Ms },
  { name: 'samples / real time, worst', digits: 4, value: (result) => result.report.sampleRatio.min },
  { name: 'samples / real time, mean', digits: 4, value: (result) => result.report.sampleRatio.mean },
  { name: 'kB resident per call', digits: 1, value: (result) => result.residentBytesPerCall / 1024 },
  { name: 'generator late p99 ms', digits: 2, value: (result) => result.report.sendLateness.p99Ms },
  { name: 'machine noise p99 ms', digits: 2, value: (result) => result.noise.p99Ms },
];

export function printSummary(results: RunResult[]): void {
  const subjects = [...new Set(results.map((result) => result.subject))];
  const valid = (subject: string): RunResult[] => {
    const own = results.filter((result) => result.subject === subject);
    const quiet = own.filter((result) => !result.isVoid);
    return quiet.length > 0 ? quiet : own;
  };
  const voids = results.filter((result) => result.isVoid).length;
  console.log(`\n${results[0]?.calls ?? 0} calls, ${results.length} runs, ${voids} void; median [min–max]`);
  console.log(`${''.padEnd(28)}${subjects.map((subject) => subject.padEnd(28)).join('')}`);
  for (const row of ROWS) {
    const cells = subjects.map((subject) => cell(valid(subject).map(row.value), row.digits).padEnd(28));
    console.log(`${row.name.padEnd(28)}${cells.join('')}`);
  }
  const naive = medianOf(valid('naive ws').map((result) => result.cpuMsPerCallSecond)).median;
  for (const subject of subjects) {
    if (subject === 'naive ws' || naive === 0) continue;
    const ours = medianOf(valid(subject).map((result) => result.cpuMsPerCallSecond)).median;
    console.log(`${subject}: ${(ours / naive).toFixed(2)} of the naive gateway's CPU`);
  }
}

export function printKnees(knees: Knee[]): void {
  console.log('\ncalls at the knee (p99 at most 10 ms late at the far end, at least 99.5 % of real time)');
  for (const knee of knees)
    console.log(`${knee.subject.padEnd(20)}${String(knee.calls).padStart(6)}   broke by: ${knee.brokeBy}`);
}
