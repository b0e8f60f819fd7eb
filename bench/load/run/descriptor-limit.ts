/**
 * Whether this machine lets the tool open as many sockets as a run may need, told before it begins: in mid-run it would
 * look like a fault of the target. Called by `main.ts` before anything else, and by the run command.
 */
import { readFileSync } from 'node:fs';

/** The media socket; and at times the one of a request. */
const PER_CALL = 2;
/** Of a process that does nothing yet, and its connections that are kept. */
const BESIDE = 400;

/** Of a process that reads its own modules, many at a time. */
const TO_START = 256;

/** Said before the program is read, which too few end with a stack of the module loader. Null: they suffice. */
export function startFault(limit = descriptorLimit()): string | null {
  if (limit === null || limit >= TO_START) return null;
  return `the load tester needs ${BESIDE} file descriptors before its first call, and this shell allows ${limit}: raise the limit with \`ulimit -n 1024\``;
}

export interface WantedDescriptors {
  mostAtOnce: number;
  /** Of far ends, among which calls are shared. */
  processes: number;
  /** More of them may be had with `--processes`. */
  mayShare: boolean;
}

/** Null: they suffice, or the system does not tell. */
export function descriptorFault(wanted: WantedDescriptors, limit = descriptorLimit()): string | null {
  const { mostAtOnce, processes, mayShare } = wanted;
  if (limit === null) return null;
  const needed = Math.ceil(mostAtOnce / processes) * PER_CALL + BESIDE;
  if (needed <= limit) return null;
  const each = processes === 1 ? 'of the process with the far ends' : `in each of ${processes} far-end processes`;
  const callsEach = Math.floor((limit - BESIDE) / PER_CALL);
  const ways = [
    `raise the limit with \`ulimit -n ${needed}\``,
    mayShare && callsEach > 0
      ? `share them among processes with --processes ${Math.ceil(mostAtOnce / callsEach)}`
      : null,
    callsEach > 0 ? `plan at most ${callsEach * processes} calls at once (mostAtOnce of the workload)` : null,
  ];
  return (
    `${mostAtOnce} calls at once need ${needed} file descriptors ${each}, and this shell allows ${limit}: ` +
    ways.filter((way) => way !== null).join(', or ')
  );
}

function descriptorLimit(): number | null {
  try {
    const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return soft === undefined || soft === 'unlimited' ? null : Number(soft);
  } catch {
    return null;
  }
}
