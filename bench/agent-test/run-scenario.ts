/**
 * Runs the scenarios of a file, each as often as it is asked to, and judges each call. Called by `test-command.ts`;
 * who holds the calls, as text or with sound, is given.
 */
import { VirtualClock } from '../harness/virtual-clock.ts';
import { type Checked, checkCall } from './check-reply.ts';
import { emptyCall, type HeldCall } from './held-call.ts';
import { type Judge, judgeOf } from './judge.ts';
import type { Scenario } from './scenario-schema.ts';
import type { Subject } from './subject.ts';

export type HoldCall = (subject: Subject, scenario: Scenario) => Promise<HeldCall>;

export interface ScenarioRun {
  held: HeldCall;
  checks: Checked[];
  /** `unjudged`: nothing failed, but the judge could not say. */
  outcome: 'passed' | 'failed' | 'unjudged';
  ms: number;
  /** Where the record of a failure lies. */
  keptAt?: string;
}

export interface ScenarioResult {
  file: string;
  name: string;
  about: string;
  runs: ScenarioRun[];
  passed: number;
  minPassRate: number;
  /** `skipped`: it cannot be held so. */
  outcome: 'passed' | 'failed' | 'unjudged' | 'skipped';
  /** Why it was skipped. */
  why?: string;
}

export interface RunOptions {
  repeat: number | undefined;
  minPassRate: number | undefined;
  /** Only scenarios whose name has it. */
  only: string | undefined;
  hold: HoldCall;
  /** Why a scenario cannot be held so; null: it can. */
  refusal(scenario: Scenario): string | null;
  /** After each run, for reports and records. */
  ran?(file: string, scenario: Scenario, number: number, run: ScenarioRun): void;
}

export async function runFile(path: string, subject: Subject, options: RunOptions): Promise<ScenarioResult[]> {
  const { only = '' } = options;
  const wanted = subject.file.scenarios.filter(({ name }) => name.toLowerCase().includes(only.toLowerCase()));
  const results: ScenarioResult[] = [];
  for (const scenario of wanted) results.push(await runScenario(path, subject, scenario, options));
  return results;
}

async function runScenario(
  path: string,
  subject: Subject,
  scenario: Scenario,
  { repeat = scenario.repeat ?? 1, minPassRate = scenario.minPassRate ?? 1, hold, refusal, ran }: RunOptions,
): Promise<ScenarioResult> {
  const why = refusal(scenario);
  const one = { file: path, name: scenario.name, about: subject.about, minPassRate };
  if (why !== null) return { ...one, runs: [], passed: 0, outcome: 'skipped', why };
  const judge = judgeFor(subject);
  const runs: ScenarioRun[] = [];
  for (let number = 1; number <= repeat; number++) {
    const beganAtMs = performance.now();
    const held = await hold(subject, scenario).catch((error: Error) => ({ ...emptyCall(), fault: error.message }));
    const checks = await checkCall(scenario, held, judge).catch((error: Error) => {
      held.fault ??= `it could not be judged: ${error.message}`;
      return [];
    });
    const isFailed = held.fault !== null || checks.some((one) => one.held === false);
    const outcome = isFailed ? 'failed' : checks.some((one) => one.held === null) ? 'unjudged' : 'passed';
    const run: ScenarioRun = { held, checks, outcome, ms: performance.now() - beganAtMs };
    runs.push(run);
    ran?.(path, scenario, number, run);
  }
  const passed = runs.filter(({ outcome }) => outcome === 'passed').length;
  const failed = runs.filter(({ outcome }) => outcome === 'failed').length;
  // What could not be judged might have passed: only where that would not have been enough has it failed.
  const outcome =
    passed / repeat >= minPassRate ? 'passed' : (repeat - failed) / repeat >= minPassRate ? 'unjudged' : 'failed';
  return { ...one, runs, passed, outcome };
}

/** On a clock of its own: the call is over when it is judged. */
function judgeFor({ file, models }: Subject): Judge | null {
  if (file.judge === undefined) return null;
  const clock = new VirtualClock();
  return judgeOf(models.open(file.judge, clock), file.judge.asks, () => clock.advanceMs(1_000));
}
