/**
 * Judges the runs of others by their silence, of which each beat tells. Silence alone kills nobody: a run is dead when
 * its lease is over and its machine does not answer either. One that answers is suspect: nothing is placed there, and
 * its calls are left alone for two minutes, then taken from it, never hung up. For `run-keeper.ts`, whose diagram shows
 * where this stands; `docs/decisions/leases.md` has the why.
 */
import type { Logger } from 'pino';
import { type Clock, pause } from '../../media/contract/clock.ts';
import { ANSWER_LIMIT_MS } from './machine-answers.ts';
import type { OtherRun } from './media-runs.ts';

export interface RunJudgeDeps {
  clock: Clock;
  log: Logger;
  /** This node's name. */
  node: string;
  /** Does the machine at this address answer, and as this node, in `limitMs`? Never rejects. */
  answers(address: string, node: string, limitMs: number): Promise<boolean>;
  /** Has it been well long enough itself, so that others could have been heard? Not when it closes. */
  isFit(): boolean;
  /** Its lease is over, and its machine is silent too. */
  dead(runId: string): Promise<void>;
  /** It is suspect for long: its calls are to be taken from it. Said again while that lasts. */
  overdue(runId: string): void;
}

export interface RunJudge {
  /** What the beat of now has told of others: all that live. */
  heard(others: readonly OtherRun[]): void;
}

const ASK_AGAIN_MS = 500;
/** Its machine is asked from so long before its lease is over, so that both are known at once. */
const ASK_BEFORE_MS = 5_000;
/** The lease is over by the database's clock, which was heard a moment ago. */
const SURELY_OVER_MS = 100;
/** Its node may be cut off from the database alone, and its calls be well. */
const SUSPECT_MS = 120_000;

export function createRunJudge({ clock, log, node, answers, isFit, dead, overdue }: RunJudgeDeps): RunJudge {
  /** Until when nothing more is done about each. */
  const suspects = new Map<string, number>();
  /** Whose machine is being asked. */
  const asked = new Set<string>();

  async function verdict(run: OtherRun, leaseOverAtMs: number): Promise<void> {
    const { runId, silentMs, leaseMs } = run;
    if (await machineAnswers(run, leaseOverAtMs)) {
      if (silentMs > leaseMs) suspect(run);
      return;
    }
    const leftMs = leaseOverAtMs - clock.nowMs();
    if (leftMs > 0) await pause(clock, leftMs + SURELY_OVER_MS);
    if (isFit()) await dead(runId);
  }

  /** False: not once, asked twice at least, and the last time until its lease was over. */
  async function machineAnswers({ address, node: name }: OtherRun, leaseOverAtMs: number): Promise<boolean> {
    // Ours would beat here.
    if (address === null || name === node) return false;
    for (let times = 1, limitMs = ANSWER_LIMIT_MS; ; times++) {
      if (await answers(address, name, limitMs)) return true;
      const leftMs = leaseOverAtMs - clock.nowMs();
      if (times > 1 && leftMs <= 0) return false;
      // One that says nothing takes as long as it may, and that is not waited for when the lease is over.
      await pause(clock, Math.max(ASK_AGAIN_MS, leftMs - ANSWER_LIMIT_MS));
      const nowLeftMs = leaseOverAtMs - clock.nowMs();
      if (nowLeftMs > 0) limitMs = Math.min(ANSWER_LIMIT_MS, Math.max(ASK_AGAIN_MS, nowLeftMs));
    }
  }

  function suspect({ runId, node: name, slot, silentMs }: OtherRun): void {
    const patientUntilMs = suspects.get(runId);
    if (patientUntilMs === undefined) {
      log.warn({ runId, node: name, slot, silentMs }, 'a media process is silent, and its machine answers');
    } else if (clock.nowMs() < patientUntilMs) return;
    else overdue(runId);
    suspects.set(runId, clock.nowMs() + SUSPECT_MS);
  }

  function judge(run: OtherRun): void {
    const { runId, silentMs, leaseMs } = run;
    if (silentMs <= leaseMs && suspects.delete(runId)) {
      log.info({ runId, node: run.node }, 'a media process is heard of again');
    }
    if (silentMs <= leaseMs - ASK_BEFORE_MS || !isFit() || asked.has(runId)) return;
    asked.add(runId);
    verdict(run, clock.nowMs() + leaseMs - silentMs)
      .catch((error: unknown) => log.warn({ runId, err: error }, 'a silent media process could not be judged'))
      .finally(() => asked.delete(runId));
  }

  return {
    heard(others) {
      for (const runId of suspects.keys()) if (!others.some((run) => run.runId === runId)) suspects.delete(runId);
      for (const run of others) judge(run);
    },
  };
}
