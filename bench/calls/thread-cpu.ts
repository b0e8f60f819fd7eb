/**
 * CPU time of a process by thread, from the operating system (Linux /proc); Node has no call
 * for another thread's share.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** Linux's USER_HZ is 100 on every platform that Node supports. */
const MS_PER_TICK = 10;

export interface ThreadCpu {
  tid: number;
  name: string;
  cpuMs: number;
}

/** User plus system time of each living thread, from the scheduler's own nanoseconds where the kernel gives them. */
export function readThreadCpu(pid: number): ThreadCpu[] {
  const threads: ThreadCpu[] = [];
  for (const entry of readdirSync(`/proc/${pid}/task`)) {
    const folder = `/proc/${pid}/task/${entry}`;
    try {
      const stat = readFileSync(`${folder}/stat`, 'latin1');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const ticks = Number(fields[11]) + Number(fields[12]);
      const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
      threads.push({ tid: Number(entry), name, cpuMs: schedulerMs(folder) ?? ticks * MS_PER_TICK });
    } catch {
      // The thread ended between the two reads.
    }
  }
  return threads;
}

function schedulerMs(folder: string): number | null {
  try {
    return Number(readFileSync(`${folder}/schedstat`, 'latin1').split(' ')[0]) / 1e6;
  } catch {
    return null;
  }
}

/** CPU ms that each thread spent between two readings, most first; threads that appeared count from zero. */
export function cpuBetween(before: ThreadCpu[], after: ThreadCpu[]): ThreadCpu[] {
  const earlier = new Map(before.map((thread) => [thread.tid, thread.cpuMs]));
  return after
    .map((thread) => ({ ...thread, cpuMs: thread.cpuMs - (earlier.get(thread.tid) ?? 0) }))
    .sort((a, b) => b.cpuMs - a.cpuMs);
}

/** Resident memory of a process in bytes. */
export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
}
