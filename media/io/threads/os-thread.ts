/** A thread as the operating system knows it. Linux tells by /proc; elsewhere nothing is known. */
import { readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { ThreadWork } from './silence-gauge.ts';

/** Of the thread that asks; null where it cannot be known. */
export function osThreadId(): number | null {
  try {
    return Number(basename(readlinkSync('/proc/thread-self')));
  } catch {
    return null;
  }
}

/** Of a thread of this process; null when it is gone, or where it cannot be known. */
export function readThreadWork(osThreadId: number): ThreadWork | null {
  const folder = `/proc/self/task/${osThreadId}`;
  try {
    const stat = readFileSync(`${folder}/stat`, 'latin1');
    // The name, in brackets, may hold anything.
    const state = stat.charAt(stat.lastIndexOf(')') + 2);
    const cpuMs = Number(readFileSync(`${folder}/schedstat`, 'latin1').split(' ', 1)[0]) / 1e6;
    return Number.isNaN(cpuMs) ? null : { cpuMs, isRunnable: state === 'R' };
  } catch {
    return null;
  }
}

/**
 * Names the thread that asks as `top -H` and the benches show it, 15 bytes at most: all threads of Node are called
 * `node`, and whoever measures them could not tell them apart. Does nothing where that cannot be done.
 */
export function nameThisThread(name: string): void {
  try {
    writeFileSync('/proc/thread-self/comm', name);
  } catch {
    // Not Linux, or a container that may not.
  }
}
