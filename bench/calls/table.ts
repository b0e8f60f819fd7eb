/**
 * The bench's tables: medians over the repetitions, with the smallest and the largest beside them, and the verdicts.
 */
import { percentiles } from '../harness/percentile.ts';
import type { Knee } from './knee.ts';
import type { RunResult } from './measure.ts';
import { FLOOR, NAIVE } from './subjects.ts';
import { IN_TIME_MS } from './tally.ts';

function medianOf(values: number[]): { median: number; min: number; max: number } {
  const [min, median, max] = percentiles(values.length === 0 ? [0] : values, [0, 0.5, 1]);
  return { median: median!, min: min!, max: max! };
}

function cell(values: (number | null)[], digits: number): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return '–';
  const { median, min, max } = medianOf(known);
  return `${median.toFixed(digits)} [${min.toFixed(digits)}–${max.toFixed(digits)}]`;
}

/** What the comparison is about: the threads that every frame passes, and what ends TLS before them. */
const framePathMs = (result: RunResult): number =>
  result.ioMsPerCallSecond + result.pipelineMsPerCallSecond + result.proxyMsPerCallSecond;

const ROWS: { name: string; digits: number; value: (result: RunResult) => number | null }[] = [
  { name: 'CPU ms per call-second', digits: 3, value: framePathMs },
  { name: '  I/O thread', digits: 3, value: (result) => result.ioMsPerCallSecond },
  { name: '  pipeline thread', digits: 3, value: (result) => result.pipelineMsPerCallSecond },
  { name: '  proxy, for TLS', digits: 3, value: (result) => result.proxyMsPerCallSecond },
  { name: '  whole process', digits: 3, value: (result) => result.cpuMsPerCallSecond },
  {
    name: `CPU ms a second in time`,
    digits: 3,
    value: (result) => (result.report.inTimeRatio === 0 ? null : framePathMs(result) / result.report.inTimeRatio),
  },
  { name: `in time (${IN_TIME_MS} ms), %`, digits: 2, value: (result) => result.report.inTimeRatio * 100 },
  { name: 'late at our send, p50 ms', digits: 2, value: (result) => result.sendLateness?.p50Ms ?? null },
  { name: 'late at our send, p99 ms', digits: 2, value: (result) => result.sendLateness?.p99Ms ?? null },
  { name: 'late at the far end, p50', digits: 2, value: (result) => result.report.arrivalLateness.p50Ms },
  { name: 'late at the far end, p99', digits: 2, value: (result) => result.report.arrivalLateness.p99Ms },
  { name: 'off real time, worst call %', digits: 3, value: (result) => result.report.worstDeviationRatio * 100 },
  { name: 'samples / real time, mean', digits: 4, value: (result) => result.report.sampleRatio.mean },
  { name: 'garbage bytes a frame pair', digits: 0, value: (result) => result.garbageBytesPerFramePair },
  { name: 'collector ms per second', digits: 2, value: (result) => result.collectionMsPerSecond },
  { name: 'longest collection ms', digits: 2, value: (result) => result.longestCollectionMs },
  { name: 'kB resident per call', digits: 1, value: (result) => result.residentBytesPerCall / 1024 },
  { name: 'kB live per call', digits: 1, value: (result) => result.liveBytesPerCall / 1024 },
  { name: 'generator late p99 ms', digits: 2, value: (result) => result.report.sendLateness.p99Ms },
  { name: 'generator CPU %', digits: 0, value: (result) => result.report.cpuRatio * 100 },
  { name: 'machine noise p99 ms', digits: 2, value: (result) => result.noise.p99Ms },
];

const widthOf = (subject: string): number => Math.max(26, subject.length + 2);

export function printSummary(results: RunResult[]): void {
  const subjects = [...new Set(results.map((result) => result.subject))];
  const valid = (subject: string): RunResult[] => {
    const own = results.filter((result) => result.subject === subject);
    const quiet = own.filter((result) => result.voidBecause === null);
    return quiet.length > 0 ? quiet : own;
  };
  const voids = results.filter((result) => result.voidBecause !== null);
  console.log(`\n${results[0]?.calls ?? 0} calls, ${results.length} runs, ${voids.length} void; median [min–max]`);
  for (const { subject, voidBecause } of voids) console.log(`void: ${subject}, ${voidBecause}`);
  console.log(`${''.padEnd(28)}${subjects.map((subject) => subject.padEnd(widthOf(subject))).join('')}`);
  for (const row of ROWS) {
    const cells = subjects.map((subject) => cell(valid(subject).map(row.value), row.digits).padEnd(widthOf(subject)));
    console.log(`${row.name.padEnd(28)}${cells.join('')}`);
  }
  const cpuOf = (subject: string): number => medianOf(valid(subject).map(framePathMs)).median;
  const beside = [
    { name: NAIVE, words: "of the naive gateway's CPU" },
    { name: FLOOR, words: "of uWebSockets.js alone's" },
  ].filter(({ name }) => subjects.includes(name) && cpuOf(name) > 0);
  for (const subject of subjects) {
    const shares = beside
      .filter(({ name }) => name !== subject)
      .map(({ name, words }) => `${(cpuOf(subject) / cpuOf(name)).toFixed(2)} ${words}`);
    if (subject !== NAIVE && shares.length > 0) console.log(`${subject}: ${shares.join(', ')}`);
  }
  const ioOf = (subject: string): number => medianOf(valid(subject).map((one) => one.ioMsPerCallSecond)).median;
  if (!subjects.includes(FLOOR) || ioOf(FLOOR) === 0) return;
  for (const subject of subjects) {
    if (subject === FLOOR) continue;
    console.log(`${subject}: its I/O thread ${(ioOf(subject) / ioOf(FLOOR)).toFixed(2)} of uWebSockets.js alone's`);
  }
}

export function printKnees(knees: Knee[]): void {
  console.log('\ncalls at the knee (p99 at most 10 ms late at the far end, at least 99.5 % of real time)');
  const floor = knees.find(({ subject }) => subject === FLOOR)?.calls ?? 0;
  for (const { subject, calls, bytesPerCall, brokeBy } of knees) {
    const share = floor === 0 || subject === FLOOR ? '' : `${(calls / floor).toFixed(2)} of uWebSockets.js alone; `;
    console.log(
      `${subject.padEnd(20)}${String(calls).padStart(6)}   ${share}${(bytesPerCall / 1024).toFixed(0)} kB resident a further call; broke by: ${brokeBy}`,
    );
  }
}
