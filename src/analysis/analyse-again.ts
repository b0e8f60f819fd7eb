/**
 * Reads a call once more, because somebody asked: a model was set, or was down at the time. Stores what comes of it and
 * tells no receiver: `analysis.completed` comes once a call. Called by the command line.
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { OutboundHttp } from '../../media/net/outbound-http.ts';
import { BY_OPERATOR, type ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { CallChange } from '../calls/call-change.ts';
import { lockCall, readCall } from '../calls/call-row.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Database } from '../store/database.ts';
import { type Analysis, analyse } from './analyse.ts';
import { addAnalysis } from './analysis-jobs.ts';
import { readCallStory } from './call-story.ts';
import { readChatEndpoint } from './model-endpoint.ts';
import { createModelStates } from './model-state.ts';

export type AnalysedAgain =
  | { kind: 'done'; analysis: Analysis }
  /** `pending`: the service is about to do so. `unanswered`: there was no talk. `deleted`: what was said is gone. */
  | { kind: 'unknown_call' | 'not_over' | 'pending' | 'unanswered' | 'deleted' };

/** Longer than a call after its end would be given: somebody waits for it. */
const BUDGET_MS = 120_000;

export async function analyseAgain(
  deps: { database: Database; clock: Clock; sealer: Pick<Sealer, 'open'> | null; http: OutboundHttp },
  args: { workspaceId: string; callUuid: string; by?: ChangedBy },
): Promise<AnalysedAgain> {
  const { database, clock } = deps;
  const { workspaceId, callUuid } = args;
  const call = await readCall(database, workspaceId, callUuid);
  if (call === undefined) return { kind: 'unknown_call' };
  if (call.endedAt === null) return { kind: 'not_over' };
  if (call.answeredAt === null) return { kind: 'unanswered' };
  if (call.analysisStatus === 'pending') return { kind: 'pending' };
  if (call.transcriptStatus === 'deleted') return { kind: 'deleted' };
  // Without a sealer only the heuristic is wanted.
  const endpoint = deps.sealer === null ? null : await readChatEndpoint(database, deps.sealer, workspaceId);
  const model =
    endpoint === null
      ? null
      : {
          endpoint,
          state: createModelStates(clock).of(workspaceId, endpoint.version),
          deadlineAtMs: clock.nowMs() + BUDGET_MS,
          signal: new AbortController().signal,
        };
  const analysis = await analyse(
    { http: deps.http, clock, random: Math.random },
    await readCallStory(database, call),
    model,
  );
  await database.transaction(async (tx) => {
    const locked = await lockCall(tx, callUuid);
    if (locked === undefined) return;
    const { findings, warnings, modelFault } = analysis;
    // Asked for anew: what was deleted comes back only so.
    const asked = locked.analysisStatus === 'deleted' ? { ...locked, analysisStatus: 'none' as const } : locked;
    const change = new CallChange(asked);
    addAnalysis(change, { findings, warnings, problem: modelFault }, clock.epochMs());
    await change.write(tx);
    const by = args.by ?? BY_OPERATOR;
    await recordAudit(tx, {
      workspaceId,
      by,
      action: 'call.analysed_again',
      target: `call:${callUuid}`,
      after: { model: findings.model },
    });
  });
  return { kind: 'done', analysis };
}
