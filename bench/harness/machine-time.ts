/** What the cores of this machine were busy with since it began, from the kernel's own count (proc_stat(5), Linux). */
import { readFileSync } from 'node:fs';

export interface MachineTime {
  /** A core that waits for a disk is not; one that other guests of the host took is. */
  busyMs: number;
  /** Taken by other guests of the host. */
  stealMs: number;
  /** Of all cores together, idle time too. */
  totalMs: number;
}

const MS_PER_TICK = 10;

/** `core`: of that one alone, from 0 on. Throws where there is no /proc. */
export function readMachineTime(core: number | '' = ''): MachineTime {
  const line = readFileSync('/proc/stat', 'latin1')
    .split('\n')
    .find((one) => one.startsWith(`cpu${core} `));
  const ticks = (line ?? '').trim().split(/\s+/).slice(1, 9).map(Number);
  const [, , , idle = 0, ioWait = 0, , , steal = 0] = ticks;
  const total = ticks.reduce((sum, one) => sum + one, 0);
  return {
    busyMs: (total - idle - ioWait) * MS_PER_TICK,
    stealMs: steal * MS_PER_TICK,
    totalMs: total * MS_PER_TICK,
  };
}
