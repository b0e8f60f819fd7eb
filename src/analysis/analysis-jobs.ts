/**
 * Who owes an answered call its `analysis.completed`: rows of `analysis_jobs`, written with the call's terminal state
 * and deleted in the transaction that writes the event. So the event comes once, whoever dies in between. SQL only;
 * `analysis-runner.ts` does the work.
 */
import type { Clock } from '../../media/contract/clock.ts';
import { CallChange } from '../calls/call-change.ts';
import { type CallRow, type LockedCall, lockCall } from '../calls/call-row.ts';
import { readTurns } from '../calls/call-turns.ts';
import { codeOf } from '../calls/call-warnings.ts';
import type { Findings } from '../calls/findings.ts';
import type { Database, Queryable } from '../store/database.ts';
import { NOW } from '../store/due-look.ts';
import { tellOfCall } from '../webhooks/outbox.ts';
import { GIVE_UP_MS } from './owe-analysis.ts';

/** How long after the end a model may be waited for. The event has to be out within 120 s (contract §6). */
const MODEL_BUDGET_MS = 90_000;
/** A process that died holds a job so long at most; who works on it makes the claim again in between. */
export const CLAIM_MS = 10_000;
/** A job that keeps failing here has something in it that cannot be stored. */
const MOST_ATTEMPTS = 6;

export interface DueJob {
  callUuid: string;
  workspaceId: string;
  /** Too late to ask a model. */
  isOverdue: boolean;
}

export interface ClaimedJob extends DueJob {
  /** Ms left to wait for a model; 0 when it is overdue. */
  modelBudgetMs: number;
  /** It has failed too often: write the event without findings. */
  isHopeless: boolean;
}

const IS_DUE = `due_at <= $1 AND (claimed_until IS NULL OR claimed_until <= $1 OR give_up_at <= $1)`;

/** For the look that all share. */
export const MAY_BE_DUE_SQL = `EXISTS (SELECT 1 FROM analysis_jobs WHERE ${IS_DUE.replaceAll('$1', NOW)})`;

/** The overdue first, then the oldest. */
export function dueJobs(database: Queryable, nowEpochMs: number, limit: number): Promise<DueJob[]> {
  return database.query<DueJob>(
    `SELECT call_uuid AS "callUuid", workspace_id AS "workspaceId", give_up_at <= $1 AS "isOverdue"
       FROM analysis_jobs WHERE ${IS_DUE} ORDER BY give_up_at <= $1 DESC, due_at LIMIT $2`,
    [new Date(nowEpochMs), limit],
  );
}

/** Undefined: somebody else has it, or it is done. */
export async function claimJob(
  database: Queryable,
  callUuid: string,
  nowEpochMs: number,
): Promise<ClaimedJob | undefined> {
  const rows = await database.query<{ workspaceId: string; giveUpAt: Date; attempts: number }>(
    `UPDATE analysis_jobs SET claimed_until = $3, attempts = attempts + 1 WHERE call_uuid = $2 AND ${IS_DUE}
     RETURNING workspace_id AS "workspaceId", give_up_at AS "giveUpAt", attempts`,
    [new Date(nowEpochMs), callUuid, new Date(nowEpochMs + CLAIM_MS)],
  );
  const row = rows[0];
  if (row === undefined) return undefined;
  const leftMs = row.giveUpAt.getTime() - nowEpochMs;
  return {
    callUuid,
    workspaceId: row.workspaceId,
    isOverdue: leftMs <= 0,
    modelBudgetMs: Math.max(0, leftMs - (GIVE_UP_MS - MODEL_BUDGET_MS)),
    isHopeless: row.attempts > MOST_ATTEMPTS,
  };
}

/** Still being worked on. */
export async function extendClaim(database: Queryable, callUuid: string, nowEpochMs: number): Promise<void> {
  await database.query('UPDATE analysis_jobs SET claimed_until = $2 WHERE call_uuid = $1', [
    callUuid,
    new Date(nowEpochMs + CLAIM_MS),
  ]);
}

/** It could not be done now; anybody may try again after a pause. */
export async function releaseJob(database: Queryable, callUuid: string, dueEpochMs: number): Promise<void> {
  await database.query('UPDATE analysis_jobs SET claimed_until = NULL, due_at = $2 WHERE call_uuid = $1', [
    callUuid,
    new Date(dueEpochMs),
  ]);
}

export interface AnalysisToStore {
  /** Null: it failed, and the fields stay null. */
  findings: Findings | null;
  warnings: readonly string[];
  /** Why a model did not serve, or why there are no findings; for the call's events. */
  problem: string | null;
}

export interface SettleJobDeps {
  database: Database;
  clock: Clock;
}

/** Result, event and the end of the debt in one transaction. Null: somebody else was first. */
export function settleJob(
  deps: SettleJobDeps,
  callUuid: string,
  analysis: AnalysisToStore,
): Promise<CallChange | null> {
  return deps.database.transaction(async (tx) => {
    const call = await lockCall(tx, callUuid);
    const owed = await tx.query('DELETE FROM analysis_jobs WHERE call_uuid = $1 RETURNING 1 AS one', [callUuid]);
    return call === undefined || owed.length === 0 ? null : store(deps, tx, call, analysis);
  });
}

/**
 * The same for what is found here and now, without anybody being asked: the job need not be claimed for that.
 * `elsewhere`: it does not take it on, and nothing was changed. Null: it is not due, or somebody else was first.
 */
export function settleJobHere(
  deps: SettleJobDeps,
  callUuid: string,
  find: (tx: Queryable, call: CallRow) => Promise<AnalysisToStore | 'elsewhere'>,
): Promise<CallChange | 'elsewhere' | null> {
  return deps.database.transaction(async (tx) => {
    const call = await lockCall(tx, callUuid);
    if (call === undefined) return null;
    const analysis = await find(tx, call);
    if (analysis === 'elsewhere') return analysis;
    const owed = await tx.query('DELETE FROM analysis_jobs WHERE call_uuid = $1 AND due_at <= $2 RETURNING 1 AS one', [
      callUuid,
      new Date(deps.clock.epochMs()),
    ]);
    return owed.length === 0 ? null : store(deps, tx, call, analysis);
  });
}

async function store(
  { clock }: SettleJobDeps,
  tx: Queryable,
  call: LockedCall,
  analysis: AnalysisToStore,
): Promise<CallChange> {
  const change = new CallChange(call);
  addAnalysis(change, analysis, clock.epochMs());
  const extra = analysisEventFields(call.analysis);
  await tellOfCall(change, { event: 'analysis.completed', extra, turns: () => readTurns(tx, call.callUuid) }, clock);
  await change.write(tx);
  return change;
}

/** What a client deleted stays deleted. */
export function addAnalysis(change: CallChange, analysis: AnalysisToStore, nowEpochMs: number): void {
  const { call } = change;
  if (call.analysisStatus === 'deleted') return;
  const { findings, warnings, problem } = analysis;
  change.set({
    // Quotes are words of the transcript: without it none stays.
    analysis: call.transcriptStatus === 'deleted' && findings !== null ? { ...findings, evidence: [] } : findings,
    analysisStatus: findings === null ? 'failed' : 'ready',
    warnings: [
      ...new Set([...call.warnings.filter((warning) => !codeOf(warning).startsWith('analysis_')), ...warnings]),
    ],
  });
  const data = { status: call.analysisStatus, model: findings?.model ?? null, warnings, problem };
  change.log({ kind: 'analysis', data, atEpochMs: nowEpochMs });
}

/** What `analysis.completed` says beyond the fields of every event (contract §6). */
export function analysisEventFields(findings: Findings | null): Record<string, unknown> {
  return {
    intent: findings?.intent ?? null,
    summary: findings?.summary ?? null,
    analysis: {
      intent: findings?.intent ?? null,
      intentConfidence: findings?.intentConfidence ?? null,
      sentiment: findings?.sentiment ?? null,
      successful: findings?.successful ?? null,
      successReason: findings?.successReason ?? null,
      data: findings?.data ?? {},
      language: findings?.language ?? null,
      disposition: findings?.disposition ?? null,
      evidence: findings?.evidence ?? [],
      model: findings?.model ?? null,
    },
  };
}

/** Calls that still wait for theirs, of the whole cluster, and how long the oldest has. */
export async function countOwed(database: Queryable): Promise<{ count: number; oldestSeconds: number }> {
  const [row] = await database.query<{ count: number; oldestSeconds: number }>(
    `SELECT count(*)::int AS count, coalesce(extract(epoch FROM now() - min(due_at)), 0)::float8 AS "oldestSeconds" FROM analysis_jobs`,
  );
  return { count: row?.count ?? 0, oldestSeconds: Math.max(0, row?.oldestSeconds ?? 0) };
}
