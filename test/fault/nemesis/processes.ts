/** Signals to a service's processes, by id. Called by the nemesis and by fault tests. */
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { Service } from '../../../src/supervisor/service.ts';

export function signal(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid === undefined) throw new Error('the process is not there');
  process.kill(pid, name);
}

/** Stops processes where they stand, for so long. One that is gone meanwhile is passed over. */
export async function standStill(pids: readonly number[], forMs: number): Promise<void> {
  const send = (name: NodeJS.Signals): void => {
    for (const pid of pids) {
      try {
        process.kill(pid, name);
      } catch {
        // Gone.
      }
    }
  };
  send('SIGSTOP');
  await wait(forMs);
  send('SIGCONT');
}

/** The postmaster and its servers. */
export function databasePids(service: Service): number[] {
  const postmaster = service.postgres?.pid();
  if (postmaster === undefined) throw new Error('the database is not embedded');
  try {
    const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8');
    return [postmaster, ...children.split(' ').filter(Boolean).map(Number)];
  } catch {
    return [postmaster];
  }
}
