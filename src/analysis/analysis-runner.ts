/**
 * Analyses calls that are over, where that was not done as they ended (`analyse-at-end.ts`). Who ends a call rings; a
 * sweep within 5 s finds what no ring told (a process that died, a database that was away). A job is a row
 * (`analysis-jobs.ts`), so nothing here has to survive. Made and closed by `src/control/call-work.ts`.
 */
import type { Logger } from 'pino';
import { type Clock, every } from '../../media/contract/clock.ts';
import type { OutboundHttp } from '../../media/net/outbound-http.ts';
import type { CallChange } from '../calls/call-change.ts';
import type { CallEventBus } from '../calls/call-event-bus.ts';
import { type CallRow, readOwnCall } from '../calls/call-row.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Database } from '../store/database.ts';
import { isDatabaseAway } from '../store/database-away.ts';
import type { DueLook } from '../store/due-look.ts';
import { createSweeper } from '../store/sweeper.ts';
import { analyse, type ModelToAsk } from './analyse.ts';
import {
  type AnalysisToStore,
  CLAIM_MS,
  type ClaimedJob,
  claimJob,
  type DueJob,
  dueJobs,
  extendClaim,
  MAY_BE_DUE_SQL,
  releaseJob,
  settleJob,
  settleJobHere,
} from './analysis-jobs.ts';
import type { AskDeps } from './ask-model.ts';
import { readCallStory } from './call-story.ts';
import { KeyUnreadable, readChatEndpoint, readChosenModel, type StoredEndpoint } from './model-endpoint.ts';
import { createModelStates } from './model-state.ts';

export interface AnalysisRunnerDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  random: () => number;
  sealer: Pick<Sealer, 'open'>;
  /** Guarded: model endpoints are addresses that users gave. Stays the caller's to close, after this. */
  http: OutboundHttp;
  bus: Pick<CallEventBus, 'publish'>;
  webhookDispatcher: { dispatch(deliveryIds: readonly string[]): void };
  observed?: AnalysisObserver;
  /** Absent: each 5 s. */
  due?: DueLook;
}

export interface AnalysisObserver {
  /** `by`: `heuristic`, `model`, or `none` when it failed. */
  analysed(by: 'heuristic' | 'model' | 'none', secondsAfterEnd: number): void;
  asked: NonNullable<AskDeps['asked']>;
}

export interface AnalysisRunner {
  start(): void;
  /** A call has ended, and its transaction is committed. Never throws and never waits. */
  callEnded(call: CallRow): void;
  /** Works until nothing is due; for tests. */
  idle(): Promise<void>;
  /** Endpoints that are left alone at the moment. */
  openBreakers(): number;
  /** Ends questions under way; their jobs stay. Idempotent. */
  close(): Promise<void>;
}

const SWEEP_LIMIT = 200;
/** They wait for networks, not for the processor; a workspace whose model stalls leaves room for others. */
const MOST_AT_ONCE = 64;
const MOST_OF_A_WORKSPACE = 16;
const TRY_AGAIN_MS = 5_000;
const DELETED = 'it was deleted';
const OVERDUE = 'the call had waited too long for a model to be asked';

export function createAnalysisRunner(deps: AnalysisRunnerDeps): AnalysisRunner {
  const { database, clock } = deps;
  const log = deps.log.child({ part: 'analysis' });
  const states = createModelStates(clock);
  const stopping = new AbortController();
  const underWay = new Map<string, { workspaceId: string; done: Promise<void> }>();
  const perWorkspace = new Map<string, number>();
  let isLeftBehind = false;
  let closing: Promise<void> | null = null;
  const sweeper = createSweeper({
    clock,
    sweep,
    ...(deps.due && { due: { look: deps.due, sql: () => MAY_BE_DUE_SQL } }),
    failed: (err) => log.warn({ err }, 'analysis sweep: the database is away'),
  });

  function offer(job: DueJob): void {
    if (closing !== null || underWay.has(job.callUuid)) return;
    const ofWorkspace = perWorkspace.get(job.workspaceId) ?? 0;
    // Overdue ones ask no model, so they are never in the way for long.
    if (!job.isOverdue && (underWay.size >= MOST_AT_ONCE || ofWorkspace >= MOST_OF_A_WORKSPACE)) {
      isLeftBehind = true;
      return;
    }
    perWorkspace.set(job.workspaceId, ofWorkspace + 1);
    const done = work(job.callUuid).finally(() => {
      underWay.delete(job.callUuid);
      const left = (perWorkspace.get(job.workspaceId) ?? 1) - 1;
      if (left === 0) perWorkspace.delete(job.workspaceId);
      else perWorkspace.set(job.workspaceId, left);
      if (!isLeftBehind || closing !== null) return;
      isLeftBehind = false;
      sweeper.nudge();
    });
    underWay.set(job.callUuid, { workspaceId: job.workspaceId, done });
  }

  async function work(callUuid: string): Promise<void> {
    try {
      if (await settledHere(callUuid)) return;
      const job = await claimJob(database, callUuid, clock.epochMs());
      if (job !== undefined) await runJob(job);
    } catch (error) {
      if (!isDatabaseAway(error))
        log.error({ callUuid, err: error }, 'an analysis could not be stored; it is tried again');
      await releaseJob(database, callUuid, clock.epochMs() + TRY_AGAIN_MS).catch(() => {});
    }
  }

  /** By the heuristic, where no model is to be asked. False: it has to be claimed, and done with more patience. */
  async function settledHere(callUuid: string): Promise<boolean> {
    try {
      const stored = await settleJobHere(deps, callUuid, async (tx, call) => {
        const hopeless = whyNot(call);
        if (hopeless !== null) return gaveUp(hopeless);
        if ((await readChosenModel(tx, call.workspaceId)) !== null) return 'elsewhere';
        const { findings: found, warnings } = await analyse(askDeps(), await readCallStory(tx, call), null);
        return { findings: found, warnings, problem: null };
      });
      if (stored === 'elsewhere') return false;
      if (stored !== null) tell(stored);
      return true;
    } catch (error) {
      if (isDatabaseAway(error)) throw error;
      log.error({ callUuid, err: error }, 'an analysis failed at once; it is tried again');
      return false;
    }
  }

  async function runJob(job: ClaimedJob): Promise<void> {
    const { callUuid } = job;
    const analysis = job.isHopeless ? gaveUp('it could not be stored') : await findings(job);
    if (analysis === null) {
      // The service is being stopped: whoever comes next takes it.
      await releaseJob(database, callUuid, clock.epochMs());
      return;
    }
    const stored = await settleJob(deps, callUuid, analysis);
    if (stored === null) return;
    tell(stored);
    const { problem } = analysis;
    if (problem !== null) log.warn({ callUuid, problem, by: byOf(stored.call) }, 'an analysis had to do without');
  }

  function tell({ call, events, deliveryIds }: CallChange): void {
    for (const event of events) deps.bus.publish(event);
    if (deliveryIds.length > 0) deps.webhookDispatcher.dispatch(deliveryIds);
    observe(call);
  }

  function observe(call: CallRow): void {
    const endedEpochMs = call.endedAt?.getTime() ?? clock.epochMs();
    deps.observed?.analysed(byOf(call), Math.max(0, clock.epochMs() - endedEpochMs) / 1000);
  }

  /** All that is read for it, as one transaction: a call that is over does not change under it. */
  function readAll({ callUuid, workspaceId }: ClaimedJob) {
    return database.transaction(async (tx) => {
      const call = await readOwnCall(tx, callUuid);
      const hopeless = call === undefined ? DELETED : whyNot(call);
      if (call === undefined || hopeless !== null) return hopeless ?? DELETED;
      const story = await readCallStory(tx, call);
      try {
        return { story, endpoint: await readChatEndpoint(tx, deps.sealer, workspaceId) };
      } catch (error) {
        if (error instanceof KeyUnreadable) return { story, endpoint: error };
        throw error;
      }
    });
  }

  /** Null only when the service is being stopped. */
  async function findings(job: ClaimedJob): Promise<AnalysisToStore | null> {
    const read = await readAll(job);
    if (typeof read === 'string') return gaveUp(read);
    const { story } = read;
    const { model, problem } = modelFor(job, read.endpoint);
    const cancelExtension = keepClaim(job.callUuid);
    try {
      const { findings: found, warnings, modelFault } = await analyse(askDeps(), story, model);
      if (stopping.signal.aborted && modelFault !== null) return null;
      const late = problem === null ? [] : [`analysis_model_${problem.code}`];
      return { findings: found, warnings: [...warnings, ...late], problem: modelFault ?? problem?.reason ?? null };
    } catch (error) {
      log.error({ callUuid: job.callUuid, err: error }, 'an analysis failed');
      return gaveUp(error instanceof Error ? error.message : String(error));
    } finally {
      cancelExtension();
    }
  }

  /** Null when there is none, when it is too late to ask it, or when its key cannot be opened. */
  function modelFor(
    job: ClaimedJob,
    endpoint: StoredEndpoint | KeyUnreadable | null,
  ): { model: ModelToAsk | null; problem: { code: string; reason: string } | null } {
    if (endpoint instanceof KeyUnreadable) {
      return { model: null, problem: { code: 'key_unreadable', reason: endpoint.message } };
    }
    if (endpoint === null) return { model: null, problem: null };
    if (job.modelBudgetMs === 0) return { model: null, problem: { code: 'overdue', reason: OVERDUE } };
    const state = states.of(job.workspaceId, endpoint.version);
    const deadlineAtMs = clock.nowMs() + job.modelBudgetMs;
    return { model: { endpoint, state, deadlineAtMs, signal: stopping.signal }, problem: null };
  }

  function askDeps(): AskDeps {
    const { http, random, observed } = deps;
    return { http, clock, random, ...(observed === undefined ? {} : { asked: observed.asked }) };
  }

  function keepClaim(callUuid: string): () => void {
    return every(clock, CLAIM_MS / 2, () => void extendClaim(database, callUuid, clock.epochMs()).catch(() => {}));
  }

  async function sweep(): Promise<void> {
    const due = await dueJobs(database, clock.epochMs(), SWEEP_LIMIT);
    if (due.length === SWEEP_LIMIT) isLeftBehind = true;
    for (const job of due) offer(job);
  }

  async function close(): Promise<void> {
    stopping.abort();
    await sweeper.close();
    await Promise.all([...underWay.values()].map(({ done }) => done));
  }

  return {
    start: () => sweeper.start(),
    callEnded(call) {
      const { callUuid, workspaceId, analysisStatus } = call;
      if (analysisStatus === 'pending') offer({ callUuid, workspaceId, isOverdue: false });
      else if (analysisStatus === 'ready') observe(call);
    },
    async idle() {
      await sweeper.idle();
      while (underWay.size > 0) await Promise.all([...underWay.values()].map(({ done }) => done));
    },
    openBreakers: () => states.openCount(),
    close: () => (closing ??= close()),
  };
}

/** Null: there is something to analyse. */
function whyNot(call: CallRow): string | null {
  if (call.analysisStatus === 'deleted') return DELETED;
  return call.transcriptStatus === 'deleted' ? 'the transcript was deleted before it was read' : null;
}

/** Of a call whose analysis is stored. */
function byOf({ analysis }: CallRow): 'heuristic' | 'model' | 'none' {
  if (analysis === null) return 'none';
  return analysis.model.startsWith('parley-heuristic') ? 'heuristic' : 'model';
}

function gaveUp(problem: string): AnalysisToStore {
  return { findings: null, warnings: [], problem };
}
