/**
 * The one way in which a call changes: lock its row, let `observe` decide, write row, log, terminal webhook event and
 * what else belongs to the change as one statement, and only after the commit dispatch webhooks and do side effects.
 * Callbacks, media messages, timers and the API all come through here; nothing else writes `calls.status`.
 */
import type { Clock } from '../../media/contract/clock.ts';
import { owedAnalysis } from '../analysis/owe-analysis.ts';
import { CallChange } from '../calls/call-change.ts';
import type { CallEventBus } from '../calls/call-event-bus.ts';
import { type CallRow, isWriter, lockCall } from '../calls/call-row.ts';
import { settleUsage } from '../dialling/daily-usage.ts';
import { type RecordedCall, recordedCall } from '../recordings/recorded-call.ts';
import type { RecordingLinks } from '../recordings/recording-links.ts';
import { settleRecording } from '../recordings/settle-recording.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Database, Queryable } from '../store/database.ts';
import { settleIdempotency } from '../store/idempotency-keys.ts';
import { tellOfCall } from '../webhooks/outbox.ts';
import { type Change, type Observation, observe, type SideEffect } from './observe.ts';

export interface TransitionDeps {
  database: Database;
  clock: Clock;
  bus: Pick<CallEventBus, 'publish'>;
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
  /** Of a call that ends: adds its analysis to its change. False: it is owed, as where this is absent. */
  analyse?(tx: Queryable, seen: RecordedCall): Promise<boolean>;
  /** Where an accepted call is to land; null: wherever it comes. Absent: nothing is chosen. */
  chooseRun?(callUuid: string): string | null;
  /** Told after the commit; must not throw and must not block. */
  perform(call: CallRow, effects: SideEffect[]): void;
  /** The call is over; told after the commit, once. Whatever was held for it is let go; must not throw or block. */
  ended?(call: CallRow): void;
  /** The row's next timer, told after the commit, so that a near one is not late by a sweep. */
  deadlineMoved(callUuid: string, deadlineAt: Date | null): void;
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

/** Or what makes it of what the transaction reads, on the locked row, before it changes. */
export type Observed = Observation | ((tx: Queryable, seen: RecordedCall) => Promise<Observation>);

export interface ApplyOptions {
  /** The lease's epoch that the observer holds; another one than the row's is stale, and nothing is changed. */
  epoch?: number;
  /** Adds to the change, which is decided and not written yet. */
  alongside?(tx: Queryable, change: CallChange): Promise<void>;
}

/** Nothing was changed: there is no such call, or the observer does not own it any more. */
export type Refused = 'unknown_call' | 'stale_epoch';

interface Done {
  written: CallChange;
  change: Change;
}

export function createTransitions(deps: TransitionDeps): Transitions {
  const { clock } = deps;
  return {
    async apply(callUuid, observed, options = {}) {
      const done = await deps.database.transaction(async (tx): Promise<Done | Refused> => {
        const locked = await lockCall(tx, callUuid);
        if (locked === undefined) return 'unknown_call';
        if (options.epoch !== undefined && !isWriter(locked, options.epoch)) return 'stale_epoch';
        const written = new CallChange(locked);
        const seen = recordedCall(tx, written);
        const { call } = written;
        const observation = typeof observed === 'function' ? await observed(tx, seen) : observed;
        const nowEpochMs = clock.epochMs();
        const before = { ...call };
        const change = observe(before, observation, nowEpochMs, deps.timerScale);
        written.set(change.patch).log(...change.log.map((line) => ({ ...line, atEpochMs: nowEpochMs })));
        if (observation.type === 'submission.accepted' && !change.finished && deps.chooseRun !== undefined) {
          written.set({ assignedRun: deps.chooseRun(callUuid) });
        }
        if (change.finished && call.answeredAt !== null) {
          if ((await seen.turns()).length > 0) written.set({ transcriptStatus: 'ready' });
          written.set({ analysisStatus: 'pending' });
        }
        await tellOfProgress(seen, before);
        if (change.finished) {
          await tellOfEnd(seen);
          // Its recording may have been finished first, but the terminal event has the lowest sequence.
          await settleRecording(deps, tx, seen);
          if (call.analysisStatus === 'pending' && (await deps.analyse?.(tx, seen)) !== true) {
            written.also(owedAnalysis(call, nowEpochMs));
          }
        }
        await options.alongside?.(tx, written);
        await written.write(tx);
        if (change.settled !== null) await settleIdempotency(tx, call, change.settled);
        written.deliveryIds.push(...(await deps.follow(tx, call, observation, change.finished)));
        if (change.finished && call.dialReservedSeconds !== null) await settleUsage(tx, call);
        return { written, change };
      });
      if (typeof done === 'string') return done;
      tell(done);
      return { call: done.written.call, change: done.change };
    },
  };

  /** The opt-in events on the way. */
  async function tellOfProgress({ change, turns }: RecordedCall, before: CallRow): Promise<void> {
    const { call } = change;
    if (call.status === 'ringing' && before.status !== 'ringing') {
      await tellOfCall(change, { event: 'call.ringing', turns }, clock);
    }
    if (call.answeredAt !== null && before.answeredAt === null) {
      await tellOfCall(change, { event: 'call.answered', turns }, clock);
    }
  }

  async function tellOfEnd({ change, turns }: RecordedCall): Promise<void> {
    const { call } = change;
    const event = `call.${call.status}` as 'call.completed' | 'call.no_answer' | 'call.failed';
    const extra = event === 'call.completed' ? {} : { sipReason: call.ending?.carrierCause ?? null };
    await tellOfCall(change, { event, extra, turns }, clock);
  }

  function tell({ written, change }: Done): void {
    const { call, events, deliveryIds } = written;
    for (const event of events) deps.bus.publish(event);
    if (deliveryIds.length > 0) deps.webhookDispatcher.dispatch(deliveryIds);
    if (change.effects.length > 0) deps.perform(call, change.effects);
    deps.deadlineMoved(call.callUuid, call.deadlineAt);
    if (change.finished) deps.ended?.(call);
  }
}
