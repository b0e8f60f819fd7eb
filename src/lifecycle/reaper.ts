/**
 * Brings every call to its end. A sweep takes the calls whose `deadline_at` has passed, asks `dueTimer` what is over,
 * and does it; `sweep-times.ts` says when. Any number of nodes may sweep: a call taken by one is skipped by the others.
 * All state is in the rows, so a restart forgets nothing; what a node took and did not finish is due again after
 * `CLAIM_MS`. Timers are wall time, because rows outlive processes; that the wall clock was set forward does not end
 * who talks or rings (`wall-clock.ts`). After a time in which orphans could not come back, they get the time to do so.
 */
import type { Logger } from 'pino';
import type { EndedReason } from '../../media/contract/call-outcome.ts';
import type { Clock } from '../../media/contract/clock.ts';
import { type CallRow, lockCall, patchCall, readOwnCall } from '../calls/call-row.ts';
import { dueTimer, nextDeadline, type TimerKind } from '../calls/timers.ts';
import type { Database } from '../store/database.ts';
import type { DueLook } from '../store/due-look.ts';
import type { LineCarriers } from './line-carriers.ts';
import type { EndReport } from './observe.ts';
import { redirectCall } from './redirect-call.ts';
import type { SideEffects } from './side-effects.ts';
import { createSweepTimes, type SweepTimes } from './sweep-times.ts';
import type { Transitions } from './transition.ts';
import { createWallClock } from './wall-clock.ts';

export interface ReaperDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  transitions: Transitions;
  lineCarriers: LineCarriers;
  publicUrl: string;
  effects: Pick<SideEffects, 'hangUpOnce'>;
  /** See `UnwrittenTalk`: a call ends with all that was said of it. Absent: nothing waits to be written. */
  allWritten?(callUuid: string): Promise<void>;
  /** See `timers.ts`; default 1. */
  timerScale?: number;
  /** Absent: it sweeps each second. */
  due?: DueLook;
}

export interface Reaper extends Omit<SweepTimes, 'forget'> {
  /** One sweep by hand: how many calls it looked at. Rejects when the database is away. */
  sweep(): Promise<number>;
}

const BATCH_CALLS = 50;
/**
 * A lost process leaves hundreds of calls at once, and a carrier may take seconds for each: so
 * many are in hand together.
 */
const BATCHES_A_SWEEP = 4;
const CLAIM_MS = 20_000;
/** After a start, media processes get this long to come back before calls without an owner are looked after. */
const ORPHAN_GRACE_MS = 10_000;
/**
 * A sweep's statement that took so long, or a sweep so late: database or process stood still,
 * and no orphan could come back.
 */
const STANDSTILL_MS = 5_000;

const TAKE_DUE = `
  UPDATE calls SET deadline_at = $2
   WHERE call_uuid IN (SELECT call_uuid FROM calls WHERE deadline_at <= $1
                        ORDER BY deadline_at LIMIT ${BATCH_CALLS} FOR UPDATE SKIP LOCKED)
  RETURNING call_uuid`;

export function createReaper(deps: ReaperDeps): Reaper {
  const { database, clock, log, transitions, lineCarriers, effects } = deps;
  /** Since when orphans could come back. */
  let graceFromMs = clock.nowMs();
  const wallClock = createWallClock(clock, log);
  let databaseWasAway = false;
  const times = createSweepTimes({
    clock,
    ...(deps.due && { due: deps.due }),
    sweep: sweepInTime,
    looks(lateMs) {
      if (lateMs > STANDSTILL_MS) beginGrace();
      lookAtWallClock();
    },
  });

  /** Orphans could not come back until now. */
  function beginGrace(): void {
    graceFromMs = clock.nowMs();
  }

  function lookAtWallClock(): void {
    if (!wallClock.look()) return;
    beginGrace();
    times.forget();
  }

  async function sweep(): Promise<number> {
    lookAtWallClock();
    const work: Promise<void>[] = [];
    for (let batch = 0; batch < BATCHES_A_SWEEP; batch++) {
      const due = await takeDue();
      work.push(...due.map(({ call_uuid }) => lookAfter(call_uuid)));
      if (due.length < BATCH_CALLS) break;
    }
    await Promise.all(work);
    return work.length;
  }

  async function sweepInTime(): Promise<boolean> {
    try {
      const looked = await sweep();
      if (databaseWasAway) log.info('the sweep of calls goes on');
      databaseWasAway = false;
      return looked === BATCH_CALLS * BATCHES_A_SWEEP;
    } catch (error) {
      beginGrace();
      if (!databaseWasAway) log.warn({ err: error }, 'the sweep of calls waits for the database');
      databaseWasAway = true;
      throw error;
    }
  }

  async function takeDue(): Promise<{ call_uuid: string }[]> {
    const nowEpochMs = clock.epochMs();
    const askedAtMs = clock.nowMs();
    const due = await database.query<{ call_uuid: string }>(TAKE_DUE, [
      new Date(nowEpochMs),
      new Date(nowEpochMs + CLAIM_MS),
    ]);
    if (clock.nowMs() - askedAtMs > STANDSTILL_MS) beginGrace();
    return due;
  }

  async function lookAfter(callUuid: string): Promise<void> {
    try {
      const call = await readOwnCall(database, callUuid);
      if (call === undefined) return;
      const timer = dueTimer(call, clock.epochMs(), wallClock.passedEpochMs(call.createdAt), deps.timerScale);
      try {
        if (timer !== null) await act(call, timer);
      } finally {
        await setDeadline(callUuid);
      }
    } catch (error) {
      log.warn({ callUuid, err: error }, 'a timer of the call could not be settled; it is tried again');
    }
  }

  async function act(call: CallRow, timer: TimerKind): Promise<void> {
    switch (timer) {
      case 'end_asked':
        await transitions.apply(call.callUuid, { type: 'end.asked', reason: 'operator_hangup', hangupBy: 'operator' });
        return;
      case 'placement_lost':
        await transitions.apply(call.callUuid, { type: 'submission.unknown', why: 'the placement was interrupted' });
        return;
      case 'submission_unknown':
        await hangUp(call);
        return finish(call, timer, { reason: 'submission_unknown', hangupBy: 'platform' });
      case 'dialing':
        // Some carriers queue above their rate and would ring later.
        await hangUp(call);
        return finish(call, timer, { reason: 'carrier_timeout', hangupBy: 'platform' });
      case 'ring':
        await hangUp(call);
        return finish(call, timer, { reason: 'no_answer', hangupBy: 'platform' });
      case 'no_media':
        await hangUp(call);
        return finish(call, timer, { reason: 'no_media', hangupBy: 'platform' });
      case 'media_drain':
        return finish(call, timer, { reason: 'user_hangup', hangupBy: null });
      case 'max_duration':
        await transitions.apply(call.callUuid, {
          type: 'end.asked',
          reason: 'max_duration_reached',
          hangupBy: 'platform',
        });
        return;
      case 'closing_lookup':
        return lookUp(call, timer, 'user_hangup', async () => {
          if (call.ending !== null) await hangUp(call);
          // Its stream ended, and the phone is still held to the ear.
          else await transitions.apply(call.callUuid, { type: 'end.asked', reason: 'no_media', hangupBy: 'platform' });
        });
      case 'closing_limit':
        await hangUp(call);
        return finish(call, timer, { reason: 'user_hangup', hangupBy: null });
      case 'orphan_lookup':
        if (inGrace()) return;
        return lookUp(call, timer, 'node_lost', () => redirect(call));
      case 'orphan_limit':
        if (inGrace()) return;
        await hangUp(call);
        return finish(call, timer, { reason: 'node_lost', hangupBy: 'platform' });
    }
  }

  function inGrace(): boolean {
    return clock.nowMs() - graceFromMs < ORPHAN_GRACE_MS;
  }

  async function lookUp(
    call: CallRow,
    timer: TimerKind,
    reasonIfGone: EndedReason,
    ifAlive: () => Promise<void>,
  ): Promise<void> {
    const carrierCallId = call.carrierCallId ?? call.carrierRequestId;
    const carrier = await lineCarriers.of(call);
    const found = carrierCallId === null ? 'unknown' : await carrier.lookup(carrierCallId);
    if (found === 'gone') {
      const hangupBy = reasonIfGone === 'node_lost' ? ('platform' as const) : null;
      await finish(call, timer, { reason: reasonIfGone, hangupBy });
    } else if (found !== 'unknown') await ifAlive();
  }

  /** Somebody is on the phone: he goes on wherever the next stream is taken. */
  async function redirect(call: CallRow): Promise<void> {
    if (await redirectCall(deps, call)) log.info({ callUuid: call.callUuid }, 'a call without an owner was sent on');
  }

  async function finish(call: CallRow, timer: TimerKind, report: EndReport): Promise<void> {
    await deps.allWritten?.(call.callUuid);
    await transitions.apply(call.callUuid, { type: 'finish', ifDue: timer, ...report });
  }

  /** One attempt; the carrier being away does not keep a call alive here. */
  async function hangUp(call: CallRow): Promise<void> {
    try {
      if (await effects.hangUpOnce(call)) return;
      log.warn({ callUuid: call.callUuid, carrier: call.carrier }, 'the carrier could not be told to hang up');
    } catch (error) {
      log.warn({ callUuid: call.callUuid, carrier: call.carrier, err: error }, 'the hang-up at the carrier failed');
    }
  }

  /** The claim's far deadline is replaced by the next real one. */
  async function setDeadline(callUuid: string): Promise<void> {
    const deadlineAt = await database.transaction(async (tx) => {
      const call = await lockCall(tx, callUuid);
      if (call === undefined) return null;
      const next = nextDeadline(call, clock.epochMs(), deps.timerScale);
      await patchCall(tx, callUuid, { deadlineAt: next });
      return next;
    });
    times.moved(callUuid, deadlineAt);
  }

  return { ...times, sweep };
}
