/**
 * A share of a core for some processes and all that they start, held by the kernel (control groups, either version),
 * in slices so short that sound is not late for them alone. Root on Linux.
 * https://docs.kernel.org/scheduler/sched-bwc.html
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface ProcessorQuota {
  hold(pids: readonly number[]): void;
  /** They may have whatever there is, as before. */
  lift(): void;
  /** Since the beginning: slices in which they ran, and those of them in which they were made to wait. */
  slices(): { ran: number; throttled: number };
  /** Once they have ended. */
  close(): void;
}

/** A frame is 20 ms. */
const SLICE_US = 10_000;
const FIRST = '/sys/fs/cgroup/cpu';
const SECOND = '/sys/fs/cgroup';

export function processorQuota(name: string, cores: number): ProcessorQuota {
  const isFirst = existsSync(join(FIRST, 'cpu.cfs_quota_us'));
  const folder = join(isFirst ? FIRST : SECOND, `parley-${process.pid}-${name}`);
  if (!isFirst) writeFileSync(join(SECOND, 'cgroup.subtree_control'), '+cpu');
  mkdirSync(folder);
  const write = (file: string, text: string): void => writeFileSync(join(folder, file), text);
  const allow = (sliceUs: number | null): void => {
    if (isFirst) write('cpu.cfs_quota_us', String(sliceUs ?? -1));
    else write('cpu.max', `${sliceUs ?? 'max'} ${SLICE_US}`);
  };
  if (isFirst) write('cpu.cfs_period_us', String(SLICE_US));
  return {
    hold(pids) {
      for (const pid of pids) write('cgroup.procs', String(pid));
      allow(cores * SLICE_US);
    },
    lift: () => allow(null),
    slices() {
      const stat = readFileSync(join(folder, 'cpu.stat'), 'utf8');
      const of = (what: string): number => Number(new RegExp(`^${what} (\\d+)`, 'm').exec(stat)?.[1] ?? 0);
      return { ran: of('nr_periods'), throttled: of('nr_throttled') };
    },
    close: () => rmdirSync(folder),
  };
}
