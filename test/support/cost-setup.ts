/**
 * Vitest setup of each file while `PARLEY_TEST_COSTS` names a file: a line there for what the test file cost, its
 * processes, threads and browsers included. Linux counts what a process's children used once they have ended, so what
 * a file leaves running (a browser of its worker) is its worker's, and counted with the next file or not at all.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { afterAll, expect } from 'vitest';

const TICKS_A_SECOND = 100;
const notes = process.env['PARLEY_TEST_COSTS'] ?? '';

/** Of this process and those of its children that ended, since its start. */
function cpuSeconds(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ');
  // utime, stime, cutime, cstime: proc_pid_stat(5).
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_A_SECOND;
}

const worker = globalThis as { parleyCostSoFar?: number };
const startedAtMs = performance.now();

afterAll(() => {
  const soFar = cpuSeconds();
  const cpu = soFar - (worker.parleyCostSoFar ?? 0);
  worker.parleyCostSoFar = soFar;
  const file = relative(process.cwd(), expect.getState().testPath ?? '');
  const wall = (performance.now() - startedAtMs) / 1000;
  appendFileSync(notes, `${JSON.stringify({ file, cpu, wall })}\n`);
});
