/**
 * Step 13 of contract §2: may this workspace start one more call on this line now, and when may the carrier be asked?
 * Called by placement alone. `admit` takes rates, slots and the line's turn, all or nothing; `settle` turns the
 * promised slot into the call's row, in the row's own transaction; the turn spaces what was let through, so that the
 * carrier never sees more than the line's rate. How leases and rows belong together is `docs/decisions/limits.md`.
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { Queryable } from '../store/database.ts';
import type { Write } from '../store/joint-write.ts';
import { type CallLimitSettings, type CallScope, createSettingsReader } from './call-limit-settings.ts';
import { type RateAsk, rateAsk, remainingOf } from './gcra.ts';
import { rateNames, slotNames } from './limit-names.ts';
import type { AdmissionAnswer, Hold, SlotAsk } from './limit-store.ts';
import { createLineFloor, paceAsk, spacedAsk } from './line-pace.ts';
import { createRemainingTimes } from './remaining-time.ts';
import { admitToSlots, keptPromise, type LimitStores, PROMISE_MS } from './slot-admission.ts';

export type CallLimitAnswer =
  | { ok: true; left: CallsLeft; turn: LineTurn }
  | { ok: false; code: CallLimitCode /** 1 to 30. */; retryAfterSeconds: number; left: CallsLeft };

/** The last: the operator has limited the line to 0. */
export type CallLimitCode = 'cps_limit' | 'concurrency_limit' | 'line_switched_off';

/** The place among a line's calls that was taken with the admission. */
export interface LineTurn {
  perSecond: number;
  /** When the carrier may be asked; of `clock.nowMs`. */
  atMs: number;
}

/** For the RateLimit headers (contract §11); of line and workspace, the tighter one. */
export interface CallsLeft {
  perSecond: { limit: number; remaining: number };
  concurrent: { limit: number; remaining: number };
}

export interface CallLimits {
  /** `known`: the scope's settings, where somebody has just read them. */
  admit(scope: CallScope, callUuid: string, known?: CallLimitSettings): Promise<CallLimitAnswer>;
  /** A part of the statement that inserts the row, which throws `PromiseEnded` where there must be none. */
  settle(callUuid: string): Write;
  /**
   * How long to wait, in ms, before the carrier is asked. `taken`: with the admission; null where it is asked again.
   * Null: so many wait already that this one must not.
   */
  turn(scope: CallScope, taken: LineTurn | null): Promise<number | null>;
  /** Gives the slots back when no row was written. */
  release(scope: CallScope, callUuid: string): Promise<void>;
}

export interface CallLimitsDeps extends LimitStores {
  database: Queryable;
  clock: Pick<Clock, 'nowMs'>;
  /** 0: a change of settings holds for the very next call. */
  settingsKeptMs: number;
}

/** A turn that is over for so long may be another's by now, of another process: the row was slow to be written. */
const MISSED_MS = 250;
const CPS_RETRY_SECONDS = 1;
const SWITCHED_OFF_RETRY_SECONDS = 30;

export function createCallLimits(deps: CallLimitsDeps): CallLimits {
  const { database, clock, store } = deps;
  const settings = createSettingsReader({ database, clock, keepMs: deps.settingsKeptMs });
  const remainingTimes = createRemainingTimes({ database, clock });
  const floor = createLineFloor(clock);

  return {
    async admit(scope, callUuid, known) {
      const limits = await settings.read(scope, known);
      const { lineConcurrent, linePerSecond } = limits;
      if (lineConcurrent === 0 || linePerSecond === 0) return switchedOff(lineConcurrent, linePerSecond);
      const { rates, slots } = asksOf(scope, limits);
      const answer = await admitToSlots(deps, { rates, slots, holder: callUuid }, PROMISE_MS);
      if (!answer.ok) return refused(scope, answer, rates, slots);
      const atMs = clock.nowMs() + (answer.tatsUs[rates.length - 1] ?? 0) / 1000;
      return { ok: true, left: leftAfter(answer, rates, slots, 1), turn: { perSecond: linePerSecond, atMs } };
    },
    settle: keptPromise,
    async turn(scope, taken) {
      const lateMs = taken === null ? Number.POSITIVE_INFINITY : clock.nowMs() - taken.atMs;
      if (taken !== null && lateMs < MISSED_MS) return floor.wait(scope.lineId, taken.perSecond, Math.max(0, -lateMs));
      // The row is there: that the store is away now must not leave it undialled. This process still spaces its own.
      let perSecond = 1;
      let turnMs = 0;
      try {
        perSecond = (await settings.read(scope)).linePerSecond;
        const ask = paceAsk(rateNames.linePace(scope.lineId), perSecond);
        const answer = await store.admit({ rates: [ask], slots: [], holder: '', ttlMs: 0 });
        if (!answer.ok) return null;
        turnMs = (answer.tatsUs[0] ?? 0) / 1000;
      } catch {
        turnMs = 0;
      }
      return floor.wait(scope.lineId, perSecond, turnMs);
    },
    release: (scope, callUuid) => store.release(callHold(scope, callUuid)),
  };

  async function refused(
    scope: CallScope,
    answer: Extract<AdmissionAnswer, { ok: false }>,
    rates: readonly RateAsk[],
    slots: readonly SlotAsk[],
  ): Promise<CallLimitAnswer> {
    const left = leftAfter(answer, rates, slots, 0);
    if (answer.refused === 'rate') return { ok: false, code: 'cps_limit', retryAfterSeconds: CPS_RETRY_SECONDS, left };
    const retryAfterSeconds = await remainingTimes.medianSeconds(scope.workspaceId);
    return { ok: false, code: 'concurrency_limit', retryAfterSeconds, left };
  }
}

/** Waiting helps nobody; but a client that was told to stays away for longest. */
function switchedOff(concurrent: number, perSecond: number): CallLimitAnswer {
  const left = { perSecond: { limit: perSecond, remaining: 0 }, concurrent: { limit: concurrent, remaining: 0 } };
  return { ok: false, code: 'line_switched_off', retryAfterSeconds: SWITCHED_OFF_RETRY_SECONDS, left };
}

export function callHold(scope: CallScope, callUuid: string): Hold {
  return { holder: callUuid, names: [slotNames.workspaceCalls(scope.workspaceId), slotNames.lineCalls(scope)] };
}

/** Workspace first, as in `callHold`; a second's worth may come at once. The line's turn last: it is no limit. */
function asksOf(scope: CallScope, limits: CallLimitSettings): { rates: RateAsk[]; slots: SlotAsk[] } {
  const [workspaceName = '', lineName = ''] = callHold(scope, '').names;
  const { workspacePerSecond, linePerSecond } = limits;
  return {
    rates: [
      rateAsk(rateNames.workspaceCalls(scope.workspaceId), {
        perSecond: workspacePerSecond,
        burst: workspacePerSecond,
      }),
      spacedAsk(rateNames.lineCalls(scope.lineId), linePerSecond),
      paceAsk(rateNames.linePace(scope.lineId), linePerSecond),
    ],
    slots: [
      { name: workspaceName, limit: limits.workspaceConcurrent },
      { name: lineName, limit: limits.lineConcurrent },
    ],
  };
}

/** `taken`: 1 after an admission, 0 after a refusal. */
function leftAfter(
  answer: AdmissionAnswer,
  rates: readonly RateAsk[],
  slots: readonly SlotAsk[],
  taken: 0 | 1,
): CallsLeft {
  const rateLeft = rates.slice(0, -1).map((ask, index) => ({
    limit: ask.toleranceUs < 0 ? 0 : Math.floor(ask.toleranceUs / ask.periodUs) + 1,
    remaining: remainingOf(ask, (answer.tatsUs[index] ?? 0) + taken * ask.periodUs),
  }));
  const slotLeft = slots.map(({ limit }, index) => ({
    limit,
    remaining: Math.max(0, limit - (answer.inUse[index] ?? 0) - taken),
  }));
  return { perSecond: tightest(rateLeft), concurrent: tightest(slotLeft) };
}

function tightest(left: { limit: number; remaining: number }[]): { limit: number; remaining: number } {
  return left.toSorted((one, other) => one.remaining - other.remaining || one.limit - other.limit)[0]!;
}
