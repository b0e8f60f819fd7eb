/**
 * Carries out a schedule of `nemesis-plan.ts` on a running service. A step that finds its victim gone already is
 * counted as missed, not repeated; one that cannot be carried out for another reason ends the run. Knows nothing of
 * calls.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Service } from '../../../src/supervisor/service.ts';
import type { OwnRedis } from '../../harness/redis-server.ts';
import { describeStep, type NemesisStep, type Outage } from './nemesis-plan.ts';
import { databasePids, standStill } from './processes.ts';
import type { SlowDatabase } from './slow-database.ts';
import type { SmallDisk } from './small-disk.ts';
import { busiestThread, killThread, type ThreadDeath } from './thread-faults.ts';

export interface NemesisTargets {
  service: Service;
  /** Of schedules that strike it. */
  queue?: OwnRedis | null;
  /** Of schedules that slow it down. */
  slowDatabase?: SlowDatabase;
  /** Of schedules that fill the database's. */
  smallDisk?: SmallDisk;
  /** Of schedules that strike it. */
  receiver?: { setMode(mode: 'well' | Outage): Promise<void> };
}

/** Resolves when the last step is done, with how many found their victim gone. */
export async function runNemesis(
  targets: NemesisTargets,
  steps: readonly NemesisStep[],
  say: (line: string) => void,
): Promise<number> {
  const startedAtMs = performance.now();
  let missed = 0;
  for (const step of steps) {
    await wait(Math.max(0, startedAtMs + step.atMs - performance.now()));
    const what = `  ${(step.atMs / 1000).toFixed(1)} s: ${describeStep(step)}`;
    if (step.victim === 'queue' || step.victim === 'receiver') {
      // These are the run's own: one that does not come back is no victim that was gone.
      await hurtOwn(targets, step);
      say(what);
      continue;
    }
    try {
      await hurtService(targets, step);
      say(what);
    } catch (error) {
      // A thread goes with its process at any moment of being looked for, which is seen in many ways.
      if (step.victim !== 'pipeline' && !isGone(error)) throw error;
      missed++;
      say(`${what} missed: ${(error as Error).message}`);
    }
  }
  return missed;
}

async function hurtOwn({ queue, receiver }: NemesisTargets, { victim, act, forMs }: NemesisStep): Promise<void> {
  if (victim === 'queue') {
    if (queue === undefined || queue === null) throw new Error('the schedule strikes a queue that this run has not');
    await queue.kill();
    await queue.start();
    return;
  }
  if (receiver === undefined) throw new Error('the schedule strikes a receiver that this run has not');
  await receiver.setMode(act as Outage);
  await wait(forMs);
  await receiver.setMode('well');
}

async function hurtService(
  { service, slowDatabase, smallDisk }: NemesisTargets,
  { victim, act, index, forMs }: NemesisStep,
): Promise<void> {
  if (act === 'slow') {
    if (slowDatabase === undefined) throw new Error('the schedule slows a database that this run cannot slow');
    await slowDatabase.during(forMs);
    return;
  }
  if (act === 'full') {
    if (smallDisk === undefined) throw new Error('the schedule fills a disk that this run cannot fill');
    await smallDisk.fullFor(forMs);
    return;
  }
  if (victim === 'pipeline') {
    const pid = pidOf(service.media[index]?.pid());
    await killThread(pid, await busiestThread(pid, /^pipeline-/), act as ThreadDeath);
    return;
  }
  const processes = { media: service.media[index], control: service.control, database: service.postgres };
  const pid = pidOf(processes[victim as keyof typeof processes]?.pid());
  if (act === 'stand_still') {
    await standStill(victim === 'database' ? databasePids(service) : [pid], forMs);
    return;
  }
  process.kill(pid, act === 'kill' ? 'SIGKILL' : 'SIGTERM');
}

class VictimGone extends Error {}

function pidOf(pid: number | undefined): number {
  if (pid === undefined) throw new VictimGone('it is not there');
  return pid;
}

function isGone(error: unknown): boolean {
  return error instanceof VictimGone || (error as NodeJS.ErrnoException).code === 'ESRCH';
}
