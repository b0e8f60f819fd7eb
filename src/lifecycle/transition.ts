/**
 * The one way in which a call changes: lock its row, let `observe` decide, write row, log, terminal webhook event and
 * idempotency answer in one transaction, and only then dispatch webhooks and do side effects. Callbacks, media
 * messages, timers and the API all come through here; nothing else writes `calls.status`.
 */
import type { Clock } from '../../media/contract/clock.ts';
import { oweAnalysis } from '../analysis/owe-analysis.ts';
import type { CallEvent, CallEventBus } from '../calls/call-event-bus.ts';
import { type CallRow, isWriter, lockCall } from '../calls/call-row.ts';
import { changeCall } from '../calls/change-call.ts';
import { settleUsage } from '../dialling/daily-usage.ts';
import type { RecordingLinks } from '../recordings/recording-links.ts';
import { settleRecording } from '../recordings/settle-recording.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Database, Queryable } from '../store/database.ts';
import { settleIdempotency } from '../store/idempotency-keys.ts';
import type { RecordCallEvent } from '../webhooks/record-call-event.ts';
import { type Change, type Observation, observe, type SideEffect } from './observe.ts';

export interface TransitionDeps {
  database: Database;
  clock: Clock;
  bus: Pick<CallEventBus, 'publish'>;
  recordCallEvent: RecordCallEvent;
  webhookDispatcher: { dispatch(deliveryIds: readonly string[]): void };
  /** See `timers.ts`; default 1. */
  timerScale?: number;
  links: RecordingLinks;
  sealer: Sealer;
  /**
   * What else follows from a change, in its transaction: the lead, an opt-out. Told of every observation, the late ones
   * too. Returns ids of webhook deliveries.
   */
  follow(tx: Queryable, call: CallRow, observation: Observation, finished: boolean): Promise<string[]>;
  /** Where an accepted call is to land; null: wherever it comes. Absent: nothing is chosen. */
  chooseRun?(callUuid: string): string | null;
  /** Told after the commit; must not throw and must not block. */
  perform(call: CallRow, effects: SideEffect[]): void;
  /** The call is over; told after the commit, once. Whatever was held for it is let go; must not throw or block. */
  ended?(call: CallRow): void;
  /** The row's next timer, told after the commit, so that a near one is not late by a sweep. */
  deadlineMoved(deadlineAt: Date | null): void;
}

export interface Applied {
  /** The row after the change. */
  call: CallRow;
  change: Change;
}

export interface Transitions {
  /** Rejects when the database is away: nothing happened then, and the same observation may be applied again. */
  apply(callUuid: string, observation: Observed, options?: ApplyOptions): Promise<Applied | Refused>;
}

/** Or what makes it of what the transaction reads, on the locked row. */
export type Observed = Observation | ((tx: Queryable) => Promise<Observation>);

export interface ApplyOptions {
  /** The lease's epoch that the observer holds; another one than the row's is stale, and nothing is changed. */
  epoch?: number;
  /** Runs in the same transaction, on the changed row. */
  alongside?(tx: Queryable, call: CallRow): Promise<void>;
}

/** Nothing was changed: there is no such call, or the observer does not own it any more. */
export type Refused = 'unknown_call' | 'stale_epoch';

export function createTransitions(deps: TransitionDeps): Transitions {
  return {
    async apply(callUuid, observed, options = {}) {
      const done = await deps.database.transaction(async (tx) => {
        const before = await lockCall(tx, callUuid);
        if (before === undefined) return 'unknown_call';
        if (options.epoch !== undefined && !isWriter(before, options.epoch)) return 'stale_epoch';
        const observation = typeof observed === 'function' ? await observed(tx) : observed;
        const nowEpochMs = deps.clock.epochMs();
        const change = observe(before, observation, nowEpochMs, deps.timerScale);
        const call: CallRow = { ...before, ...change.patch };
        if (observation.type === 'submission.accepted' && !change.finished && deps.chooseRun !== undefined) {
          change.patch.assignedRun = deps.chooseRun(callUuid);
          call.assignedRun = change.patch.assignedRun;
        }
        if (change.finished && call.answeredAt !== null && (await hasTurns(tx, callUuid))) {
          change.patch.transcriptStatus = 'ready';
          call.transcriptStatus = 'ready';
        }
        const isOwedAnalysis = change.finished && call.answeredAt !== null;
        if (isOwedAnalysis) {
          change.patch.analysisStatus = 'pending';
          call.analysisStatus = 'pending';
        }
        const lines = change.log.map((line) => ({ ...line, atEpochMs: nowEpochMs }));
        const events = await changeCall(tx, callUuid, change.patch, lines);
        if (change.settled !== null) await settleIdempotency(tx, call, change.settled);
        const deliveryIds = await recordProgress(tx, before, call);
        if (change.finished) {
          deliveryIds.push(...(await recordEnd(tx, call)));
          // Its recording may have been finished first, but the terminal event has the lowest sequence.
          const settled = await settleRecording(deps, tx, call);
          events.push(...settled.events);
          deliveryIds.push(...settled.deliveryIds);
        }
        if (isOwedAnalysis) await oweAnalysis(tx, call, nowEpochMs);
        deliveryIds.push(...(await deps.follow(tx, call, observation, change.finished)));
        await options.alongside?.(tx, call);
        if (change.finished && call.channel === 'phone') await settleUsage(tx, call);
        return { call, change, events, deliveryIds };
      });
      if (typeof done === 'string') return done;
      tell(done);
      return { call: done.call, change: done.change };
    },
  };

  /** The opt-in events on the way; with none subscribed they cost a look. */
  async function recordProgress(tx: Queryable, before: CallRow, call: CallRow): Promise<string[]> {
    const ids: string[] = [];
    if (call.status === 'ringing' && before.status !== 'ringing') {
      ids.push(...(await deps.recordCallEvent(tx, call, 'call.ringing', {}, deps.clock)));
    }
    if (call.answeredAt !== null && before.answeredAt === null) {
      ids.push(...(await deps.recordCallEvent(tx, call, 'call.answered', {}, deps.clock)));
    }
    return ids;
  }

  async function recordEnd(tx: Queryable, call: CallRow): Promise<string[]> {
    const event = `call.${call.status}` as 'call.completed' | 'call.no_answer' | 'call.failed';
    const extra = event === 'call.completed' ? {} : { sipReason: call.ending?.carrierCause ?? null };
    return deps.recordCallEvent(tx, call, event, extra, deps.clock);
  }

  function tell(done: { call: CallRow; change: Change; events: CallEvent[]; deliveryIds: string[] }): void {
    for (const event of done.events) deps.bus.publish(event);
    if (done.deliveryIds.length > 0) deps.webhookDispatcher.dispatch(done.deliveryIds);
    if (done.change.effects.length > 0) deps.perform(done.call, done.change.effects);
    deps.deadlineMoved(done.call.deadlineAt);
    if (done.change.finished) deps.ended?.(done.call);
  }
}

async function hasTurns(tx: Queryable, callUuid: string): Promise<boolean> {
  return (await tx.query('SELECT 1 AS one FROM call_turns WHERE call_uuid = $1 LIMIT 1', [callUuid])).length > 0;
}
