/**
 * Processor time of one process and of all that it started, to the microsecond where a tick of 10 ms would be a tenth
 * of what a call costs: from the scheduler's own accounting (Linux).
 */
import { readdirSync, readFileSync } from 'node:fs';

const MS_PER_TICK = 10;

/** In ms; 0 where there is no /proc. Children that ended are counted with their parents, to the tick. */
export function processorMs(rootPid: number): number {
  let totalMs = 0;
  for (const pid of familyOf(rootPid)) totalMs += livingMs(pid) + endedChildrenMs(pid);
  return totalMs;
}

function familyOf(rootPid: number): Set<number> {
  const parents = new Map<number, number>();
  for (const name of entriesOf('/proc')) {
    const parent = fieldsOf(Number(name))?.[1];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  const family = new Set([rootPid]);
  for (let before = 0; before < family.size; ) {
    before = family.size;
    for (const [pid, parent] of parents) if (family.has(parent)) family.add(pid);
  }
  return family;
}

function livingMs(pid: number): number {
  let ns = 0;
  for (const task of entriesOf(`/proc/${pid}/task`))
    ns += Number(textOf(`/proc/${pid}/task/${task}/schedstat`).split(' ')[0]);
  return ns / 1_000_000;
}

function endedChildrenMs(pid: number): number {
  const fields = fieldsOf(pid) ?? [];
  return (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) * MS_PER_TICK;
}

/** Of /proc/…/stat, from the state on. Undefined: it ended meanwhile. */
function fieldsOf(pid: number): string[] | undefined {
  const stat = textOf(`/proc/${pid}/stat`);
  return stat === '' ? undefined : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
