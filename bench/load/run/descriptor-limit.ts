/**
 * Whether this machine lets the tool open as many sockets as a run may need, told before it begins: in mid-run it would
 * look like a fault of the target. Called by `main.ts`.
 */
import { readFileSync } from 'node:fs';

/** The media socket; and at times the one of a request. */
const PER_CALL = 2;
/** Of a process that does nothing yet, and its connections that are kept. */
const BESIDE = 400;

/** Null: they suffice, or the system does not tell. */
export function descriptorFault(mostAtOnce: number, processes: number, limit = descriptorLimit()): string | null {
  if (limit === null) return null;
  const needed = Math.ceil(mostAtOnce / processes) * PER_CALL + BESIDE;
  if (needed <= limit) return null;
  const enough = processes * Math.ceil(needed / limit);
  return (
    `${mostAtOnce} calls at once need ${needed} file descriptors in each of ${processes} far-end ${processes === 1 ? 'process' : 'processes'}, and this shell allows ${limit}: ` +
    `raise the limit with \`ulimit -n ${needed}\` (or more processes: --processes ${enough}), or plan fewer calls`
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
