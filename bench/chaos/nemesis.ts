/**
 * Who is hurt when: a schedule made of a seed alone, and the one who carries it out on a running service. A step that finds its victim
 * gone already is counted as missed, not repeated. Knows nothing of calls.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Service } from '../../src/supervisor/service.ts';
import { busiestThread, killThread, THREAD_DEATHS, type ThreadDeath } from '../harness/thread-faults.ts';
import { databasePids, standStill } from './processes.ts';

export type Victim = 'media' | 'control' | 'database' | 'pipeline';
/** SIGKILL; SIGSTOP and, later, SIGCONT; SIGTERM. A thread dies in a way of its own. */
export type Act = 'kill' | 'stand_still' | 'end' | ThreadDeath;

export interface NemesisStep {
  atMs: number;
  victim: Victim;
  act: Act;
  /** Which of several media processes. */
  index: number;
  /** Of `stand_still`. */
  forMs: number;
}

export interface NemesisPlan {
  durationMs: number;
  /** Steps are so far apart, give or take a third. */
  everyMs: number;
  mediaProcesses: number;
  /** 0 to 1. */
  random(): number;
}

const VICTIMS: readonly Victim[] = ['media', 'control', 'database', 'pipeline'];
const STAND_STILL_MS = { least: 500, most: 4_000 };

/** The same seed, the same schedule. */
export function planNemesis({ durationMs, everyMs, mediaProcesses, random }: NemesisPlan): NemesisStep[] {
  const steps: NemesisStep[] = [];
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
  // Each kind comes up in each round, in an order of its own: a short run meets all of them.
  let round: Victim[] = [];
  for (let atMs = everyMs; atMs < durationMs; atMs += everyMs * (2 / 3 + (random() * 2) / 3)) {
    if (round.length === 0) round = [...VICTIMS];
    const victim = pick(round);
    round = round.filter((one) => one !== victim);
    steps.push({
      atMs: Math.round(atMs),
      victim,
      act: victim === 'pipeline' ? pick(THREAD_DEATHS) : pick(['kill', 'kill', 'stand_still', 'end'] as const),
      index: Math.floor(random() * mediaProcesses),
      forMs: Math.round(STAND_STILL_MS.least + random() * (STAND_STILL_MS.most - STAND_STILL_MS.least)),
    });
  }
  return steps;
}

/** Resolves when the last step is done, with how many found their victim gone. */
export async function runNemesis(
  service: Service,
  steps: readonly NemesisStep[],
  say: (line: string) => void,
): Promise<number> {
  const startedAtMs = performance.now();
  let missed = 0;
  for (const step of steps) {
    await wait(Math.max(0, startedAtMs + step.atMs - performance.now()));
    try {
      await hurt(service, step);
      say(`  ${(step.atMs / 1000).toFixed(1)} s: ${describeStep(step)}`);
    } catch (error) {
      missed++;
      say(`  ${(step.atMs / 1000).toFixed(1)} s: ${describeStep(step)} missed: ${(error as Error).message}`);
    }
  }
  return missed;
}

export function describeStep({ victim, act, index, forMs }: NemesisStep): string {
  const who = victim === 'media' || victim === 'pipeline' ? `${victim}-${index}` : victim;
  return `${who} ${act}${act === 'stand_still' ? ` for ${forMs} ms` : ''}`;
}

async function hurt(service: Service, step: NemesisStep): Promise<void> {
  const { victim, act, index, forMs } = step;
  if (victim === 'pipeline') {
    const pid = pidOf(service.media[index]?.pid());
    await killThread(pid, await busiestThread(pid, /^pipeline-/), act as ThreadDeath);
    return;
  }
  const pids =
    victim === 'database'
      ? databasePids(service)
      : [pidOf((victim === 'media' ? service.media[index] : service.control)?.pid())];
  if (act === 'stand_still') {
    await standStill(pids, forMs);
    return;
  }
  process.kill(pids[0]!, act === 'kill' ? 'SIGKILL' : 'SIGTERM');
}

function pidOf(pid: number | undefined): number {
  if (pid === undefined) throw new Error('it is not there');
  return pid;
}
