/**
 * One run: a subject, a number of calls, some seconds. CPU by thread, lateness at both ends, garbage, memory, the
 * machine's own noise. `main.ts` and `knee.ts` call it. What it measures beside the sockets (garbage) it measures after
 * the CPU was read.
 */
import { fork } from 'node:child_process';
import { builtEntry } from '../../src/config/built-entry.ts';
import { readMachineTime } from '../harness/machine-time.ts';
import type { FromGenerator, GeneratorOrder, GeneratorReport } from './generator.ts';
import type { HeapReading } from './heap-gauge.ts';
import { type Noise, startNoiseProbe } from './noise-probe.ts';
import { lateSince, type SendLateness } from './send-lateness.ts';
import type { Subject } from './subjects.ts';
import { cpuBetween, readThreadCpu, residentBytes } from './thread-cpu.ts';

export interface RunResult {
  subject: string;
  calls: number;
  report: GeneratorReport;
  /** CPU ms of the whole process for one second of one call. */
  cpuMsPerCallSecond: number;
  /** The main thread's share (sockets), and the busiest other's (the pipeline thread's; the naive gateway has none). */
  ioMsPerCallSecond: number;
  pipelineMsPerCallSecond: number;
  /** Of what ends TLS before it; 0: nothing does. */
  proxyMsPerCallSecond: number;
  /** The same by thread, most first; threads under 1 % of the whole are left out. */
  threads: { tid: number; isMain: boolean; cpuMsPerCallSecond: number }[];
  /** How late frames were handed to the kernel; null where the subject has no schedule to be late against. */
  sendLateness: SendLateness | null;
  /** Heap that the main thread fills for one frame in and one out, bytes. */
  garbageBytesPerFramePair: number;
  collectionMsPerSecond: number;
  longestCollectionMs: number;
  residentBytes: number;
  /**
   * Above the idle process; a share of it is the heap's young generation and compiled code,
   * whatever the number of calls.
   */
  residentBytesPerCall: number;
  /** Live objects and buffers of the main thread after a full collection, above the idle process. */
  liveBytesPerCall: number;
  noise: Noise;
  /** Why this run says nothing about the subject; null: it does. */
  voidBecause: string | null;
}

/** Beyond these the machine, not the subject, made the lateness. */
const MAX_NOISE_P99_MS = 5;
const MAX_STEAL_RATIO = 0.05;
const MAX_GENERATOR_P99_MS = 8;
const MAX_GENERATOR_CPU_RATIO = 0.97;

export async function measure(
  subject: Subject,
  order: Omit<GeneratorOrder, 'urlPrefix' | 'caFile'>,
): Promise<RunResult> {
  const generator = fork(builtEntry('bench/calls/generator.js'), [], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const waits = new Map<FromGenerator['type'], (message: FromGenerator) => void>();
  let failed: (error: Error) => void = () => {};
  const failure = new Promise<never>((_, reject) => {
    failed = reject;
  });
  failure.catch(() => {});
  const told = <T extends FromGenerator['type']>(type: T): Promise<Extract<FromGenerator, { type: T }>> =>
    Promise.race([
      new Promise<never>((done) => waits.set(type, done as unknown as (message: FromGenerator) => void)),
      failure,
    ]);
  const ready = told('ready');
  const began = told('began');
  const ended = told('ended');
  const reported = told('report');
  for (const wait of [ready, began, ended, reported]) wait.catch(() => {});
  generator.on('message', (message: FromGenerator) => {
    if (message.type === 'failed') failed(new Error(message.why));
    else waits.get(message.type)?.(message);
  });
  generator.once('exit', () => failed(new Error('the generator ended before its report')));
  try {
    await ready;
    const idle = await subject.gauge();
    const { urlPrefix, caFile } = subject;
    generator.send({ ...order, urlPrefix, caFile } satisfies GeneratorOrder);
    await began;
    const probe = startNoiseProbe(readMachineTime);
    subject.countCollections();
    const sendsBefore = subject.sends();
    const before = readThreadCpu(subject.pid);
    const proxyBefore = readProxyCpu(subject);
    const beganAtMs = performance.now();
    await ended;
    const after = readThreadCpu(subject.pid);
    const proxyMs = readProxyCpu(subject) - proxyBefore;
    const seconds = (performance.now() - beganAtMs) / 1000;
    const busyBytes = residentBytes(subject.pid);
    const sendLateness = lateSince(sendsBefore, subject.sends());
    const noise = await probe.stop();
    const heap = await subject.gauge();
    const { report } = await reported;
    return resultOf({
      subject,
      calls: order.calls,
      seconds,
      report,
      before,
      after,
      proxyMs,
      idle,
      heap,
      busyBytes,
      sendLateness,
      noise,
    });
  } finally {
    generator.removeAllListeners('exit');
    if (generator.connected) generator.disconnect();
  }
}

function readProxyCpu({ proxyPid }: Subject): number {
  return proxyPid === null ? 0 : readThreadCpu(proxyPid).reduce((sum, { cpuMs }) => sum + cpuMs, 0);
}

interface Readings {
  subject: Subject;
  calls: number;
  seconds: number;
  report: GeneratorReport;
  before: ReturnType<typeof readThreadCpu>;
  after: ReturnType<typeof readThreadCpu>;
  proxyMs: number;
  idle: HeapReading;
  heap: HeapReading;
  busyBytes: number;
  sendLateness: SendLateness | null;
  noise: Noise;
}

function resultOf({ subject, calls, seconds, report, idle, heap, busyBytes, noise, ...rest }: Readings): RunResult {
  const perCallSecond = (cpuMs: number): number => cpuMs / seconds / calls;
  const threads = cpuBetween(rest.before, rest.after);
  const wholeMs = threads.reduce((sum, thread) => sum + thread.cpuMs, 0);
  const main = threads.find((thread) => thread.tid === subject.pid);
  const others = threads.filter((thread) => thread !== main);
  const live = (reading: HeapReading): number => reading.memory.heapBytes + reading.memory.externalBytes;
  return {
    subject: subject.name,
    calls,
    report,
    cpuMsPerCallSecond: perCallSecond(wholeMs),
    ioMsPerCallSecond: perCallSecond(main?.cpuMs ?? 0),
    pipelineMsPerCallSecond: subject.hasPipelineThread ? perCallSecond(others[0]?.cpuMs ?? 0) : 0,
    proxyMsPerCallSecond: perCallSecond(rest.proxyMs),
    threads: threads
      .filter((thread) => thread.cpuMs > wholeMs / 100)
      .map(({ tid, cpuMs }) => ({ tid, isMain: tid === subject.pid, cpuMsPerCallSecond: perCallSecond(cpuMs) })),
    sendLateness: rest.sendLateness,
    garbageBytesPerFramePair: heap.allocatedBytes / ((heap.sampledMs / 1000) * calls * 50),
    collectionMsPerSecond: heap.collectionMs / seconds,
    longestCollectionMs: heap.longestCollectionMs,
    residentBytes: busyBytes,
    residentBytesPerCall: (busyBytes - idle.memory.residentBytes) / calls,
    liveBytesPerCall: (live(heap) - live(idle)) / calls,
    noise,
    voidBecause: faultOf(noise, report),
  };
}

function faultOf(noise: Noise, report: GeneratorReport): string | null {
  if (noise.p99Ms > MAX_NOISE_P99_MS) return `a thread that slept 1 ms woke ${noise.p99Ms.toFixed(1)} ms late (p99)`;
  if (noise.stealRatio > MAX_STEAL_RATIO) return `others took ${(noise.stealRatio * 100).toFixed(0)} % of the machine`;
  if (report.sendLateness.p99Ms > MAX_GENERATOR_P99_MS || report.cpuRatio > MAX_GENERATOR_CPU_RATIO)
    return `the generator was at its own limit (${report.sendLateness.p99Ms.toFixed(1)} ms late, ${(report.cpuRatio * 100).toFixed(0)} % of a core)`;
  return null;
}
