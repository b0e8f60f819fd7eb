/** One run: a subject, a number of calls, some seconds. CPU by thread, lateness at both ends, memory, the machine's own noise. */
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { builtEntry } from '../../src/supervisor/built-entry.ts';
import type { GeneratorOrder, GeneratorReport } from './generator.ts';
import { type Noise, startNoiseProbe } from './noise-probe.ts';
import type { Subject } from './subjects.ts';
import { cpuBetween, readThreadCpu, residentBytes } from './thread-cpu.ts';

export interface RunResult {
  subject: string;
  calls: number;
  report: GeneratorReport;
  /** CPU ms of the whole process for one second of one call. */
  cpuMsPerCallSecond: number;
  /** The same by thread, most first; threads under 1 % of the whole are left out. */
  threads: { tid: number; isMain: boolean; cpuMsPerCallSecond: number }[];
  residentBytesPerCall: number;
  noise: Noise;
  isVoid: boolean;
}

/** Beyond these the machine, not the subject, made the lateness. */
const MAX_NOISE_P99_MS = 8;
const MAX_STEAL_RATIO = 0.1;

function readSteal(): { stealMs: number; totalMs: number } {
  const fields = readFileSync('/proc/stat', 'latin1').split('\n')[0]!.trim().split(/\s+/).slice(1).map(Number);
  return { stealMs: (fields[7] ?? 0) * 10, totalMs: fields.reduce((sum, ticks) => sum + ticks, 0) * 10 };
}

const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

export async function measure(subject: Subject, order: Omit<GeneratorOrder, 'urlPrefix'>): Promise<RunResult> {
  const generator = fork(builtEntry('bench/calls/generator.js'), [], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  try {
    await new Promise((ready) => generator.once('message', ready));
    const idleBytes = residentBytes(subject.pid);
    const reported = new Promise<GeneratorReport>((done, failed) => {
      generator.once('message', (message: GeneratorReport | { type: 'failed'; why: string }) =>
        message.type === 'report' ? done(message) : failed(new Error(message.why)),
      );
      generator.once('exit', () => failed(new Error('the generator ended before its report')));
    });
    generator.send({ ...order, urlPrefix: subject.urlPrefix } satisfies GeneratorOrder);
    await sleep(order.warmUpMs);
    const probe = startNoiseProbe(readSteal);
    const before = readThreadCpu(subject.pid);
    const beganAtMs = performance.now();
    await sleep(Math.max(1_000, order.measureMs - 500));
    const after = readThreadCpu(subject.pid);
    const seconds = (performance.now() - beganAtMs) / 1000;
    const busyBytes = residentBytes(subject.pid);
    const noise = await probe.stop();
    const report = await reported;
    const perCallSecond = (cpuMs: number): number => cpuMs / seconds / order.calls;
    const threads = cpuBetween(before, after);
    const wholeMs = threads.reduce((sum, thread) => sum + thread.cpuMs, 0);
    return {
      subject: subject.name,
      calls: order.calls,
      report,
      cpuMsPerCallSecond: perCallSecond(wholeMs),
      threads: threads
        .filter((thread) => thread.cpuMs > wholeMs / 100)
        .map(({ tid, cpuMs }) => ({ tid, isMain: tid === subject.pid, cpuMsPerCallSecond: perCallSecond(cpuMs) })),
      residentBytesPerCall: (busyBytes - idleBytes) / order.calls,
      noise,
      isVoid: noise.p99Ms > MAX_NOISE_P99_MS || noise.stealRatio > MAX_STEAL_RATIO,
    };
  } finally {
    generator.disconnect();
  }
}
