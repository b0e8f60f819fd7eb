/** A subject with all processes below it: processor time and memory, from Linux /proc. */
import { readdirSync, readFileSync } from 'node:fs';
import { readThreadCpu, type ThreadCpu } from '../calls/thread-cpu.ts';

/** `pid` and its descendants. */
function treeOf(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    } catch {
      // It ended between the two reads.
    }
  }
  const below = (one: number): number[] => [one, ...(children.get(one) ?? []).flatMap(below)];
  return below(pid);
}

export interface TreeReading {
  /** Of those that live, since each of them began. */
  threads: ThreadCpu[];
  /** Private and its share of what is shared (PSS): sums up over processes. */
  memoryBytes: number;
  processes: number;
}

export function readTree(pid: number): TreeReading {
  const pids = treeOf(pid);
  const threads: ThreadCpu[] = [];
  let memoryBytes = 0;
  for (const one of pids) {
    try {
      threads.push(...readThreadCpu(one));
      const rollup = readFileSync(`/proc/${one}/smaps_rollup`, 'latin1');
      memoryBytes += Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) * 1024;
    } catch {
      // It ended between the two reads.
    }
  }
  return { threads, memoryBytes, processes: pids.length };
}
