/**
 * Who is hurt when: schedules made of a seed alone, so that a run can be repeated. `planRounds` is for long runs, with
 * a fault every so often; `planOnceEach` for short ones, in which each kind of fault comes once. Pure; `nemesis.ts`
 * carries them out.
 */
import { THREAD_DEATHS, type ThreadDeath } from './thread-faults.ts';

/** `pipeline` is a thread of a media process, `queue` a Redis, `receiver` the webhooks' own. */
export type Victim = 'media' | 'control' | 'database' | 'pipeline' | 'queue' | 'receiver';
/** The receiver refuses connections, answers 500, or lets requests hang. */
export type Outage = 'refuse' | 'fail' | 'hang';
/**
 * To a process: SIGKILL; SIGSTOP and, later, SIGCONT; SIGTERM. The database may take its time for each statement, or
 * have a full disk. A thread dies in a way of its own. The queue is killed and started again, empty.
 */
export type Act = 'kill' | 'stand_still' | 'end' | 'slow' | 'full' | ThreadDeath | Outage;

export interface NemesisStep {
  atMs: number;
  victim: Victim;
  act: Act;
  /** Which of several media processes. */
  index: number;
  /** Of `stand_still`, `slow`, `full` and of an outage. */
  forMs: number;
}

export interface RoundsPlan {
  durationMs: number;
  /** Steps are so far apart, give or take a third. */
  everyMs: number;
  mediaProcesses: number;
  /** 0 to 1. */
  random(): number;
}

export interface OnceEachPlan {
  lengthMs: number;
  hasQueueServer: boolean;
  /** 0 to 1. */
  random(): number;
}

const IN_ROUNDS: readonly Victim[] = ['media', 'control', 'database', 'pipeline'];
const STAND_STILL_MS = { least: 500, most: 4_000 };
/** Of the whole run. */
const OUTAGE_PART = { least: 0.05, most: 0.15 };

/** Processes and pipeline threads. The same seed, the same schedule. */
export function planRounds({ durationMs, everyMs, mediaProcesses, random }: RoundsPlan): NemesisStep[] {
  const steps: NemesisStep[] = [];
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
  // Each kind comes up in each round, in an order of its own: a short run meets all of them.
  let round: Victim[] = [];
  for (let atMs = everyMs; atMs < durationMs; atMs += everyMs * (2 / 3 + (random() * 2) / 3)) {
    if (round.length === 0) round = [...IN_ROUNDS];
    const victim = pick(round);
    round = round.filter((one) => one !== victim);
    steps.push({
      atMs: Math.round(atMs),
      victim,
      act: victim === 'pipeline' ? pick(THREAD_DEATHS) : pick(['kill', 'kill', 'stand_still', 'end'] as const),
      index: Math.floor(random() * mediaProcesses),
      forMs: Math.round(between(STAND_STILL_MS, random)),
    });
  }
  return steps;
}

/**
 * Processes, the queue, and each outage of the receiver, in a random order at random moments. The same seed, the same
 * schedule.
 */
export function planOnceEach({ lengthMs, hasQueueServer, random }: OnceEachPlan): NemesisStep[] {
  const kill = (victim: Victim) => ({ victim, act: 'kill' as const, index: 0, forMs: 0 });
  const outage = (act: Outage) => ({
    victim: 'receiver' as const,
    act,
    index: 0,
    forMs: Math.round(lengthMs * between(OUTAGE_PART, random)),
  });
  const strikes: Omit<NemesisStep, 'atMs'>[] = [
    ...[kill('control'), kill('media'), kill('database')],
    ...(hasQueueServer ? [kill('queue')] : []),
    ...[outage('refuse'), outage('fail'), outage('hang')],
  ];
  shuffle(strikes, random);
  // One in each equal part, anywhere in it: so they come apart, and yet may meet.
  const partMs = lengthMs / strikes.length;
  return strikes.map((strike, index) => ({ ...strike, atMs: Math.round((index + random()) * partMs) }));
}

export function describeStep({ victim, act, index, forMs }: NemesisStep): string {
  const who = victim === 'media' || victim === 'pipeline' ? `${victim}-${index}` : victim;
  const lasts = act === 'stand_still' || act === 'slow' || act === 'full' || victim === 'receiver';
  return `${who} ${act}${lasts ? ` for ${forMs} ms` : ''}`;
}

function between({ least, most }: { least: number; most: number }, random: () => number): number {
  return least + random() * (most - least);
}

function shuffle<Item>(items: Item[], random: () => number): void {
  for (let last = items.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [items[last], items[other]] = [items[other]!, items[last]!];
  }
}
