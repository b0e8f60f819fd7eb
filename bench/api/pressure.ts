/**
 * What is busy while a burst is worked off, sampled: the main thread of each process and the processes of PostgreSQL
 * (how long they ran, and how long they could have and got no core; Linux), the whole machine, and what PostgreSQL's
 * sessions wait for. Called by `bursts.ts`.
 */
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { Queryable } from '../../src/store/database.ts';
import { readMachineTime } from '../harness/machine-time.ts';

export interface Part {
  name: string;
  /** Its main thread's; of PostgreSQL, all. */
  pids(): readonly number[];
}

interface PartPressure {
  name: string;
  /** Mean, in cores. */
  ranCores: number;
  /** Mean, in threads that stood ready. */
  waitedCores: number;
  /** From when on it was full for a while, in ms since the beginning; null: never. */
  fullFromMs: number | null;
}

export interface Pressure {
  parts: PartPressure[];
  /** Sessions by what they do, mean, the most first: `IO:WalSync`, `on a core`, `in a transaction, idle`. */
  sessions: [what: string, mean: number][];
  samples: number;
}

interface PressureWatch {
  end(): Promise<Pressure>;
}

const SAMPLE_EVERY_MS = 200;
/** A thread that ran or stood ready for so much of the time has no time left; a machine, of all its cores. */
const FULL = 0.95;
const FULL_SAMPLES = 3;
const NS_PER_MS = 1e6;

const SESSIONS = `
  SELECT CASE WHEN state LIKE 'idle in transaction%' THEN 'in a transaction, idle'
              WHEN wait_event IS NULL THEN 'on a core' ELSE wait_event_type || ':' || wait_event END AS what, count(*)::int AS count
    FROM pg_stat_activity
   WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND state <> 'idle' GROUP BY 1`;

interface Sample {
  ms: number;
  /** Of each part, in cores. */
  ran: number[];
  waited: number[];
  /** 0 to 1. */
  machine: number;
}

export function watchPressure(database: Queryable, parts: readonly Part[]): PressureWatch {
  const beganAtMs = performance.now();
  const samples: Sample[] = [];
  const sessions = new Map<string, number>();
  let looks = 0;
  let before = parts.map(({ pids }) => timesOf(pids()));
  let machineBefore = readMachineTime();
  let atMs = beganAtMs;
  let looking: Promise<void> | null = null;

  function sample(): void {
    const nowMs = performance.now();
    const after = parts.map(({ pids }) => timesOf(pids()));
    const machine = readMachineTime();
    const spentMs = nowMs - atMs;
    const share = (what: 'ranNs' | 'waitedNs') =>
      after.map((times, index) => grown(before[index]!, times, what) / NS_PER_MS / spentMs);
    samples.push({
      ms: nowMs - beganAtMs,
      ran: share('ranNs'),
      waited: share('waitedNs'),
      machine: (machine.busyMs - machineBefore.busyMs) / Math.max(1, machine.totalMs - machineBefore.totalMs),
    });
    [before, machineBefore, atMs] = [after, machine, nowMs];
    looking ??= look()
      // One look less; what PostgreSQL does not answer is told by those whose calls it holds up.
      .catch(() => {})
      .finally(() => {
        looking = null;
      });
  }

  async function look(): Promise<void> {
    const rows = await database.query<{ what: string; count: number }>(SESSIONS);
    looks++;
    for (const { what, count } of rows) sessions.set(what, (sessions.get(what) ?? 0) + count);
  }

  const timer = setInterval(sample, SAMPLE_EVERY_MS);
  return {
    async end() {
      clearInterval(timer);
      await looking;
      const ofParts = parts.map(({ name }, index): PartPressure => {
        const busy = samples.map(({ ran, waited }) => ran[index]! + waited[index]!);
        return {
          name,
          ranCores: mean(samples.map(({ ran }) => ran[index]!)),
          waitedCores: mean(samples.map(({ waited }) => waited[index]!)),
          fullFromMs: parts[index]!.name === POSTGRES ? null : fullFrom(samples, busy),
        };
      });
      const machine = samples.map((one) => one.machine);
      const cores = cpus().length;
      return {
        parts: [
          ...ofParts,
          { name: MACHINE, ranCores: mean(machine) * cores, waitedCores: 0, fullFromMs: fullFrom(samples, machine) },
        ],
        sessions: [...sessions]
          .map(([what, count]): [string, number] => [what, count / Math.max(1, looks)])
          .toSorted(([, one], [, other]) => other - one),
        samples: samples.length,
      };
    },
  };
}

/** Has no thread that could be full: its limit is the machine's cores, or what its sessions wait for. */
export const POSTGRES = 'PostgreSQL';
const MACHINE = 'the machine';

/** What was full first. */
export function firstFull({ parts }: Pressure): PartPressure | null {
  const full = parts.filter(({ fullFromMs }) => fullFromMs !== null);
  return full.toSorted((one, other) => one.fullFromMs! - other.fullFromMs!)[0] ?? null;
}

function fullFrom(samples: readonly Sample[], shares: readonly number[]): number | null {
  const at = shares.findIndex((_share, index) => {
    const next = shares.slice(index, index + FULL_SAMPLES);
    return next.length === FULL_SAMPLES && next.every((share) => share >= FULL);
  });
  return at < 0 ? null : Math.max(0, samples[at]!.ms - SAMPLE_EVERY_MS);
}

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

interface Times {
  ranNs: number;
  waitedNs: number;
}

/** proc_pid_schedstat: time on a core, and time in its queue. */
function timesOf(pids: readonly number[]): Map<number, Times> {
  const times = new Map<number, Times>();
  for (const pid of pids) {
    try {
      const [ranNs = 0, waitedNs = 0] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ').map(Number);
      times.set(pid, { ranNs, waitedNs });
    } catch {
      // It ended.
    }
  }
  return times;
}

/** What began since counts from its beginning. */
function grown(before: ReadonlyMap<number, Times>, after: ReadonlyMap<number, Times>, what: keyof Times): number {
  let sum = 0;
  for (const [pid, times] of after) sum += times[what] - (before.get(pid)?.[what] ?? 0);
  return sum;
}

/** A process and those that it started, as PostgreSQL's sessions. */
export function withChildren(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
    return [pid, ...children];
  } catch {
    return [pid];
  }
}
