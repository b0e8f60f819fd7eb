/** Who runs where: the subject on one core, all else on the others. By `taskset`, which Linux has. */
import { execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

export const SUBJECTS_CORE = 0;

/** The race's own process and all that it forks from now on. Throws where there is no second core. */
export function leaveSubjectsCore(): void {
  const cores = availableParallelism();
  if (cores < 2) throw new Error('the race needs two cores: one for the subject, one for callers and providers');
  execFileSync('taskset', ['-a', '-p', '-c', `1-${cores - 1}`, String(process.pid)], { stdio: 'ignore' });
}

/** As `spawn`, on the subject's core alone; Ctrl-C does not reach it. */
export function spawnOnSubjectsCore(command: string, args: readonly string[], options: SpawnOptions) {
  return spawn('taskset', ['-c', String(SUBJECTS_CORE), command, ...args], { ...options, detached: true });
}
