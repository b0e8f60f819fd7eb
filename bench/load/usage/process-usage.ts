/**
 * CPU and memory of processes on this machine, with their children and threads, second by second (Linux /proc). Of a
 * process that is started again under the same name the new one is watched. Used by `target-usage.ts`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { readThreadCpu, residentBytes } from '../../calls/thread-cpu.ts';

export interface ProcessSecond {
  /** Processor time since the second before, in cores. */
  cpuCores: number;
  residentBytes: number;
}

export interface WatchedProcess {
  name: string;
  /** As it is now; undefined: there is none. */
  pid(): number | undefined;
  /** Counts its children with it: a postmaster's work is done by them. */
  withChildren: boolean;
}

/** Linux's USER_HZ is 100 on every platform that Node supports. */
const MS_PER_TICK = 10;

export class ProcessUsage {
  readonly #watched: readonly WatchedProcess[];
  readonly #before = new Map<string, { cpuMs: number; atMs: number; pid: number }>();

  constructor(watched: readonly WatchedProcess[]) {
    this.#watched = watched;
  }

  /** Of each that lives, by name, since it was asked last; empty where the system does not tell. */
  take(nowMs: number): Map<string, ProcessSecond> {
    const seconds = new Map<string, ProcessSecond>();
    for (const { name, pid: pidOf, withChildren } of this.#watched) {
      const pid = pidOf();
      if (pid === undefined) continue;
      try {
        const family = withChildren ? [pid, ...childrenOf(pid)] : [pid];
        const cpuMs = family.reduce((sum, one) => sum + processCpuMs(one), 0) + (withChildren ? reapedCpuMs(pid) : 0);
        const before = this.#before.get(name);
        this.#before.set(name, { cpuMs, atMs: nowMs, pid });
        const resident = family.reduce((sum, one) => sum + residentOf(one), 0);
        const isSame = before !== undefined && before.pid === pid && nowMs > before.atMs;
        const cpuCores = isSame ? Math.max(0, cpuMs - before.cpuMs) / (nowMs - before.atMs) : 0;
        seconds.set(name, { cpuCores, residentBytes: resident });
      } catch {
        // It has just ended.
      }
    }
    return seconds;
  }

  /** Processor milliseconds of each thread of a process so far, by its number and name, most first. */
  threadsOf(name: string): { thread: string; cpuMs: number }[] {
    const pid = this.#watched.find((one) => one.name === name)?.pid();
    if (pid === undefined) return [];
    try {
      return readThreadCpu(pid)
        .map(({ tid, name: thread, cpuMs }) => ({ thread: tid === pid ? 'main' : `${thread} ${tid}`, cpuMs }))
        .sort((a, b) => b.cpuMs - a.cpuMs);
    } catch {
      return [];
    }
  }
}

/** Of all its threads, those that have ended too. */
function processCpuMs(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}

/** Of its children that have ended. */
function reapedCpuMs(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[13]) + Number(fields[14])) * MS_PER_TICK;
}

/** `/proc/<pid>/stat` behind the name, which may hold blanks. */
function statOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function childrenOf(pid: number): number[] {
  const children: number[] = [];
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const text = readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1');
      for (const child of text.split(' ')) if (child.trim() !== '') children.push(Number(child));
    } catch {
      // The thread has ended, or the kernel does not tell.
    }
  }
  return children;
}

function residentOf(pid: number): number {
  try {
    return residentBytes(pid);
  } catch {
    return 0;
  }
}
