/**
 * What the target spends while it is loaded, second by second and in sum, where that can be seen: its processes on this
 * machine, its `/metrics`, its database. Made by `main.ts`, asked by `run-workload.ts`.
 */
import type { RunResult } from '../contract/run-result.ts';
import { Series } from '../result/trend.ts';
import type { NamedSeries } from '../result/trends.ts';
import { type DatabaseCounts, DatabaseUsage } from './database-usage.ts';
import type { GarbageCount } from './garbage-count.ts';
import { processesOf, type ScrapedProcess, scrape } from './metrics-scrape.ts';
import { ProcessUsage, type ThreadUse, type WatchedProcess } from './process-usage.ts';

export interface UsageOptions {
  /** Empty: not on this machine, or not found. */
  processes: readonly WatchedProcess[];
  /** The tool's own, and emulated providers: they are shown, and are no part of the target. */
  tool: readonly WatchedProcess[];
  metricsUrl: string | null;
  metricsToken: string | null;
  databaseUrl: string | null;
  garbage: GarbageCount | null;
}

export interface UsageSecond {
  cpuCores: Record<string, number>;
  eventLoopDelayP99Ms: number | null;
}

interface Sum {
  isTool: boolean;
  seconds: number;
  cpuCores: number;
  maxCores: number;
  firstBytes: number | null;
  maxBytes: number | null;
}

/** One received and one sent. */
const FRAME_PAIRS_PER_SECOND = 50;
/** Reports of media processes come that often; more often there is nothing new. */
const SCRAPE_EVERY_SECONDS = 5;
/** A thread that did less did nothing. */
const LEAST_THREAD_MS = 10;

function seriesOf(all: Map<string, Series>, name: string): Series {
  const known = all.get(name) ?? new Series();
  all.set(name, known);
  return known;
}

export class TargetUsage {
  readonly #options: UsageOptions;
  readonly #processes: ProcessUsage;
  readonly #database: DatabaseUsage | null;
  readonly #sums = new Map<string, Sum>();
  readonly #memory = new Map<string, Series>();
  readonly #files = new Map<string, Series>();
  #threadsBefore = new Map<number, ThreadUse>();
  #beganAtMs = 0;
  #readAtMs = 0;
  #databaseBefore: DatabaseCounts | null = null;
  #garbageBefore: number | null = null;
  #scraped: Map<string, ScrapedProcess> | null = null;
  #scrapedBefore: { atMs: number; processes: Map<string, ScrapedProcess> } | null = null;
  #seconds = 0;

  constructor(options: UsageOptions) {
    this.#options = options;
    this.#processes = new ProcessUsage([...options.processes, ...options.tool]);
    this.#database = options.databaseUrl === null ? null : new DatabaseUsage(options.databaseUrl);
  }

  /** False: `/metrics` was to be read, and did not answer with figures. */
  async begin(): Promise<boolean> {
    this.#databaseBefore = (await this.#database?.read()) ?? null;
    this.#garbageBefore = this.#options.garbage?.read() ?? null;
    this.#beganAtMs = performance.now();
    this.#readAtMs = this.#beganAtMs;
    for (const [name, { residentBytes }] of this.#processes.take(this.#beganAtMs)) {
      this.#add(name, this.#isTool(name), 0, residentBytes, 0);
    }
    this.#threadsBefore = this.#threadsNow();
    await this.#scrape(this.#beganAtMs);
    return this.#options.metricsUrl === null || this.#scraped !== null;
  }

  /** Since it was asked last, a second ago or so. */
  async second(): Promise<UsageSecond> {
    const nowMs = performance.now();
    const passedSeconds = (nowMs - this.#readAtMs) / 1000;
    this.#readAtMs = nowMs;
    const cpuCores: Record<string, number> = {};
    for (const [name, { cpuCores: cores, residentBytes }] of this.#processes.take(nowMs)) {
      cpuCores[name] = cores;
      this.#add(name, this.#isTool(name), cores, residentBytes, passedSeconds);
      if (!this.#isTool(name)) seriesOf(this.#memory, name).add(nowMs - this.#beganAtMs, residentBytes);
    }
    if (++this.#seconds % SCRAPE_EVERY_SECONDS === 0) {
      for (const [name, files] of this.#processes.openFiles()) {
        if (!this.#isTool(name)) seriesOf(this.#files, name).add(nowMs - this.#beganAtMs, files);
      }
      await this.#scrape(nowMs);
    }
    const delays = [...(this.#scraped?.values() ?? [])].flatMap(({ eventLoopDelayP99Ms: ms }) => ms ?? []);
    return { cpuCores, eventLoopDelayP99Ms: delays.length === 0 ? null : Math.max(...delays) };
  }

  /** `callSeconds`: of all calls that talked, together; `calls`: so many; `mostAtOnce` of them at a time. */
  async finish(callSeconds: number, calls: number, mostAtOnce: number): Promise<RunResult['usage']> {
    // What was spent since the last whole second, on the ends of calls above all.
    await this.second();
    const after = (await this.#database?.read()) ?? null;
    const before = this.#databaseBefore;
    await this.#database?.close();
    const sums = [...this.#sums];
    const target = sums.filter(([, { isTool }]) => !isTool).map(([, sum]) => sum);
    const cpuMs = target.reduce((sum, { cpuCores }) => sum + cpuCores * 1000, 0);
    const grownBytes = target.reduce((sum, { firstBytes, maxBytes }) => sum + (maxBytes ?? 0) - (firstBytes ?? 0), 0);
    const isKnown = target.length > 0;
    const perCall = (of: (counts: DatabaseCounts) => number): number | null =>
      after === null || before === null || calls === 0 ? null : (of(after) - of(before)) / calls;
    return {
      processes: sums.map(([name, { seconds, cpuCores, maxCores, maxBytes }]) => ({
        name,
        cpuMeanCores: seconds === 0 ? null : cpuCores / seconds,
        cpuMaxCores: maxCores,
        residentMaxBytes: maxBytes,
      })),
      cpuMsPerCallSecond: isKnown && callSeconds > 0 ? cpuMs / callSeconds : null,
      residentBytesPerCall: isKnown && mostAtOnce > 0 ? grownBytes / mostAtOnce : null,
      threads: this.#threads(),
      garbageBytesPerFramePair: this.#garbagePerFramePair(callSeconds),
      commitsPerCall: perCall(({ commits }) => commits),
      walBytesPerCall: perCall(({ walBytes }) => walBytes),
    };
  }

  #garbagePerFramePair(callSeconds: number): number | null {
    const after = this.#options.garbage?.read() ?? null;
    const before = this.#garbageBefore;
    return after === null || before === null || callSeconds === 0
      ? null
      : (after - before) / (callSeconds * FRAME_PAIRS_PER_SECOND);
  }

  /** Memory and open files of the target's processes over the run, from its beginning. */
  series(): NamedSeries[] {
    return [
      ...[...this.#memory].map(([name, series]) => ({ kind: 'bytes' as const, name: `memory ${name}`, series })),
      ...[...this.#files].map(([name, series]) => ({ kind: 'count' as const, name: `open files ${name}`, series })),
    ];
  }

  #isTool(name: string): boolean {
    return this.#options.tool.some((one) => one.name === name);
  }

  #threadsNow(): Map<number, ThreadUse> {
    return new Map(this.#options.processes.flatMap(({ name }) => [...this.#processes.threadsOf(name)]));
  }

  /** Since the beginning, of each that did something; those of one name together, as one that died has a successor. */
  #threads(): ThreadUse[] {
    const used = new Map<string, ThreadUse>();
    for (const [tid, { process, thread, cpuMs }] of this.#threadsNow()) {
      const key = `${process} ${thread}`;
      const sinceMs = cpuMs - (this.#threadsBefore.get(tid)?.cpuMs ?? 0);
      used.set(key, { process, thread, cpuMs: (used.get(key)?.cpuMs ?? 0) + sinceMs });
    }
    return [...used.values()].filter(({ cpuMs }) => cpuMs >= LEAST_THREAD_MS).sort((a, b) => b.cpuMs - a.cpuMs);
  }

  /** Of a target that is not on this machine, its own word for processor and memory. */
  async #scrape(nowMs: number): Promise<void> {
    const { metricsUrl, metricsToken, processes } = this.#options;
    if (metricsUrl === null) return;
    const samples = await scrape(metricsUrl, metricsToken);
    if (samples === null) return;
    const scraped = processesOf(samples);
    this.#scraped = scraped;
    const before = this.#scrapedBefore;
    this.#scrapedBefore = { atMs: nowMs, processes: scraped };
    if (processes.length > 0 || before === null) return;
    for (const [name, { cpuSeconds, residentBytes }] of scraped) {
      const earlier = before.processes.get(name)?.cpuSeconds ?? null;
      if (cpuSeconds === null || earlier === null || cpuSeconds < earlier) continue;
      const passedSeconds = (nowMs - before.atMs) / 1000;
      const cores = (cpuSeconds - earlier) / passedSeconds;
      this.#add(name, false, cores, residentBytes, passedSeconds);
    }
  }

  #add(name: string, isTool: boolean, cores: number, residentBytes: number | null, seconds: number): void {
    const sum = this.#sums.get(name) ?? {
      isTool,
      seconds: 0,
      cpuCores: 0,
      maxCores: 0,
      firstBytes: residentBytes,
      maxBytes: null,
    };
    this.#sums.set(name, sum);
    sum.seconds += seconds;
    sum.cpuCores += cores * seconds;
    sum.maxCores = Math.max(sum.maxCores, cores);
    if (residentBytes !== null) sum.maxBytes = Math.max(sum.maxBytes ?? 0, residentBytes);
  }
}
