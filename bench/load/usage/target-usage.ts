/**
 * What the target spends while it is loaded, second by second and in sum, where that can be seen: its processes on this
 * machine, its `/metrics`, its database. Made by `main.ts`, asked by `run-workload.ts`.
 */
import type { RunResult } from '../contract/run-result.ts';
import { type DatabaseCounts, DatabaseUsage } from './database-usage.ts';
import { processesOf, type ScrapedProcess, scrape } from './metrics-scrape.ts';
import { ProcessUsage, type WatchedProcess } from './process-usage.ts';

export interface UsageOptions {
  /** Empty: not on this machine, or not found. */
  processes: readonly WatchedProcess[];
  /** Of these processes only the tool's own: they are shown, and are no part of the target. */
  tool: readonly WatchedProcess[];
  metricsUrl: string | null;
  metricsToken: string | null;
  databaseUrl: string | null;
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

/** Reports of media processes come that often; more often there is nothing new. */
const SCRAPE_EVERY_SECONDS = 5;

export class TargetUsage {
  readonly #options: UsageOptions;
  readonly #processes: ProcessUsage;
  readonly #database: DatabaseUsage | null;
  readonly #sums = new Map<string, Sum>();
  #databaseBefore: DatabaseCounts | null = null;
  #scraped: Map<string, ScrapedProcess> | null = null;
  #scrapedBefore: { atMs: number; processes: Map<string, ScrapedProcess> } | null = null;
  #seconds = 0;

  constructor(options: UsageOptions) {
    this.#options = options;
    this.#processes = new ProcessUsage([...options.processes, ...options.tool]);
    this.#database = options.databaseUrl === null ? null : new DatabaseUsage(options.databaseUrl);
  }

  async begin(): Promise<void> {
    this.#databaseBefore = (await this.#database?.read()) ?? null;
    this.#processes.take(performance.now());
    await this.#scrape(performance.now());
  }

  /** Since it was asked last, a second ago. */
  async second(): Promise<UsageSecond> {
    const nowMs = performance.now();
    const tool = new Set(this.#options.tool.map(({ name }) => name));
    const cpuCores: Record<string, number> = {};
    for (const [name, { cpuCores: cores, residentBytes }] of this.#processes.take(nowMs)) {
      cpuCores[name] = cores;
      this.#add(name, tool.has(name), cores, residentBytes);
    }
    if (++this.#seconds % SCRAPE_EVERY_SECONDS === 0) await this.#scrape(nowMs);
    const delays = [...(this.#scraped?.values() ?? [])].flatMap(({ eventLoopDelayP99Ms: ms }) => ms ?? []);
    return { cpuCores, eventLoopDelayP99Ms: delays.length === 0 ? null : Math.max(...delays) };
  }

  /** `callSeconds`: of all calls that talked, together; `calls`: so many; `mostAtOnce` of them at a time. */
  async finish(callSeconds: number, calls: number, mostAtOnce: number): Promise<RunResult['usage']> {
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
      garbageBytesPerFramePair: null,
      commitsPerCall: perCall(({ commits }) => commits),
      walBytesPerCall: perCall(({ walBytes }) => walBytes),
    };
  }

  /** By thread of the target's processes, for a person: `media-0: main 12.1 s, …`. */
  threads(): string[] {
    return this.#options.processes.flatMap(({ name }) => {
      const threads = this.#processes.threadsOf(name).filter(({ cpuMs }) => cpuMs >= 100);
      if (threads.length < 2) return [];
      const told = threads.slice(0, 6).map(({ thread, cpuMs }) => `${thread} ${(cpuMs / 1000).toFixed(1)} s`);
      return [`${name}: ${told.join(', ')}`];
    });
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

  #add(name: string, isTool: boolean, cores: number, residentBytes: number | null, seconds = 1): void {
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
