/**
 * Rounds: a while in which nothing happens, then so many calls, then so many others; all subjects in the same seconds,
 * so that a slow spell of the machine falls on all of them. What a call costs is what its while cost less what
 * the same time costs without it, of all rounds together: a single idle while is a handful of commits.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type ByText, between, type Cost, type Counts, type ProcessorTime, SETTLE_MS } from './counts.ts';
import type { Subject } from './subject.ts';

export type Figures = Omit<Cost, 'byText'> & { controlMs: number; postgresMs: number };

export interface Run {
  subject: string;
  round: number;
  /** 0: a second in which nothing happens. */
  calls: number;
  /** Of one call, without what the service does anyway; or of an idle second. */
  figures: Figures;
  byText: { text: string; calls: number; ms: number }[];
}

/** What one subject spent in a while, and for how long: statements are counted longer than processor time. */
interface Spent extends Cost {
  subject: string;
  round: number;
  calls: number;
  countedMs: number;
  processor: ProcessorTime;
  workedMs: number;
}

const IDLE_MS = 12_000;

export interface Plan {
  /** How many at once, each measured by itself. */
  calls: readonly number[];
  rounds: number;
  said(line: string): void;
}

export async function measure(subjects: readonly Subject[], { calls, rounds, said }: Plan): Promise<Run[]> {
  const all: Spent[] = [];
  const together = async (
    round: number,
    count: number,
    work: (subject: Subject) => Promise<unknown>,
  ): Promise<void> => {
    const spent = await Promise.all(subjects.map((subject) => spentOn(subject, round, count, () => work(subject))));
    for (const one of spent) said(`round ${round}, ${one.subject}: ${lineOf(one)}`);
    all.push(...spent);
  };
  // The first call of a process costs more, and so does the first rush.
  for (const count of calls) await Promise.all(subjects.map((subject) => subject.hold(count)));
  await pause(SETTLE_MS);
  for (let round = 1; round <= rounds; round++) {
    await together(round, 0, () => pause(IDLE_MS));
    for (const count of calls) await together(round, count, (subject) => subject.hold(count));
  }
  return all.map((spent) =>
    runOf(
      spent,
      all.filter(({ subject, calls: held }) => held === 0 && subject === spent.subject),
    ),
  );
}

async function spentOn(
  { name: subject, counts, processorTime }: Subject,
  round: number,
  calls: number,
  work: () => Promise<unknown>,
): Promise<Spent> {
  const from: Counts = await counts.read();
  const [fromMs, worked] = [performance.now(), processorTime()];
  await work();
  const [toMs, done] = [performance.now(), processorTime()];
  // A session tells of its last commits late; nothing follows an idle while that could not wait as long.
  if (calls > 0) await pause(SETTLE_MS);
  const to = await counts.read();
  return {
    ...between(from, to),
    ...{ subject, round, calls, countedMs: performance.now() - fromMs, workedMs: toMs - fromMs },
    processor: { control: done.control - worked.control, postgres: done.postgres - worked.postgres },
  };
}

function lineOf({ calls, commits, statements, processor, workedMs }: Spent): string {
  const what = calls === 0 ? 'idle' : `${calls} calls`;
  const cpu = `${processor.control.toFixed(0)} + ${processor.postgres.toFixed(0)} ms CPU`;
  return `${what}: ${commits} commits, ${statements} statements, ${cpu} in ${(workedMs / 1_000).toFixed(1)} s`;
}

/** `idle`: all idle whiles of the same subject. */
function runOf(spent: Spent, idle: readonly Spent[]): Run {
  const { subject, round, calls } = spent;
  const sum = (of: (one: Spent) => number): number => idle.reduce((total, one) => total + of(one), 0);
  const each = (of: (one: Spent) => number, during: 'countedMs' | 'workedMs'): number =>
    calls === 0
      ? (of(spent) * 1_000) / spent[during]
      : (of(spent) - (sum(of) / sum((one) => one[during])) * spent[during]) / calls;
  return {
    ...{ subject, round, calls },
    figures: {
      commits: each((one) => one.commits, 'countedMs'),
      sessions: each((one) => one.sessions, 'countedMs'),
      statements: each((one) => one.statements, 'countedMs'),
      walBytes: each((one) => one.walBytes, 'countedMs'),
      controlMs: each(({ processor }) => processor.control, 'workedMs'),
      postgresMs: each(({ processor }) => processor.postgres, 'workedMs'),
    },
    byText: textsOf(spent.byText)
      .map(([text]) => {
        const of = (what: 'calls' | 'ms'): number => each(({ byText }) => byText.get(text)?.[what] ?? 0, 'countedMs');
        return { text, calls: of('calls'), ms: of('ms') };
      })
      .filter(({ calls: times }) => times > 0.005)
      .sort((one, other) => other.calls - one.calls),
  };
}

function textsOf(byText: ByText): [string, unknown][] {
  return [...byText];
}
