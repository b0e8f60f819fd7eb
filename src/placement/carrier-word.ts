/**
 * The carrier is asked, and what it says is written. What it did with an unanswered request is found out by what comes
 * back, never by asking it to dial again. Called by `placement.ts` once the row is committed.
 */
import type { Logger } from 'pino';
import { type Clock, pause } from '../../media/contract/clock.ts';
import { SUBMISSION_UNKNOWN_MS } from '../calls/timers.ts';
import type { Carrier, PlaceOutcome, PlaceRequest } from '../carriers/carrier.ts';
import type { Observation } from '../lifecycle/observe.ts';
import type { Applied, Transitions } from '../lifecycle/transition.ts';
import type { CallLimits, LineTurn } from '../limits/call-limits.ts';
import { type MakeCallDeps, removeUndialled } from './make-call.ts';
import type { NewCall, Placement } from './ports.ts';

export interface CarrierWordDeps extends Pick<MakeCallDeps, 'database' | 'clearance'> {
  clock: Clock;
  log: Logger;
  transitions: Transitions;
  callLimits: Pick<CallLimits, 'turn'>;
}

/** A 429 that asks for a longer pause than this is passed on at once. */
const LONGEST_RETRY_PAUSE_SECONDS = 1;
const WRITE_AGAIN_PAUSE_MS = 1_000;

/** The carrier was not asked. */
type NotDialled = { kind: 'no_turn' } | Extract<Placement, { kind: 'blocked' }>;

/** The one repetition that there is: of an explicit 429, once, when the carrier says that a second is enough. */
export async function askCarrier(
  deps: CarrierWordDeps,
  carrier: Carrier,
  call: NewCall,
  turn: LineTurn,
  request: PlaceRequest,
): Promise<PlaceOutcome | NotDialled> {
  const { callUuid } = request;
  const { workspaceId, to } = call;
  const place = async (taken: LineTurn | null): Promise<PlaceOutcome | NotDialled> => {
    const waitMs = await deps.callLimits.turn({ workspaceId, lineId: call.line.id }, taken);
    if (waitMs === null) return { kind: 'no_turn' };
    if (waitMs > 0) await pause(deps.clock, waitMs);
    if (taken === null || waitMs > 0) {
      // The number may have been suppressed since the permit was written.
      const lineNumber = call.line.number;
      const verdict = await deps.clearance.check({ workspaceId, to, leadId: call.lead?.id ?? null, lineNumber });
      if (!verdict.allowed) return { kind: 'blocked', code: verdict.code };
    }
    try {
      return await carrier.place(request);
    } catch (error) {
      deps.log.error({ callUuid, err: error }, 'the carrier client failed while placing a call');
      return { kind: 'unknown', why: 'the carrier client failed', lateAcceptance: Promise.resolve(null) };
    }
  };
  const first = await place(turn);
  if (first.kind !== 'throttled') return first;
  if (first.retryAfterSeconds > LONGEST_RETRY_PAUSE_SECONDS) return first;
  await pause(deps.clock, first.retryAfterSeconds * 1000);
  const second = await place(null);
  return second.kind === 'no_turn' ? first : second;
}

/** What the client is told, and what the row says from now. */
export async function concluded(deps: CarrierWordDeps, callUuid: string, outcome: PlaceOutcome): Promise<Placement> {
  switch (outcome.kind) {
    case 'accepted': {
      const applied = await write(deps, callUuid, {
        type: 'submission.accepted',
        carrierRequestId: outcome.carrierRequestId,
      });
      // Its row was given up meanwhile (this process stood still, say), and the acceptance was cancelled.
      if (applied?.call.endedReason === 'submission_unknown') return { kind: 'unknown', callUuid };
      const status = applied?.call.status ?? 'dialing';
      return { kind: 'placed', callUuid, status: status === 'dialing' ? 'dialing' : 'ringing' };
    }
    case 'refused': {
      deps.log.warn(
        { callUuid, reason: outcome.reason, carrierCode: outcome.carrierCode, why: outcome.message },
        'the carrier refused the call',
      );
      const applied = await write(deps, callUuid, {
        type: 'submission.refused',
        carrierCode: outcome.carrierCode,
        reason: outcome.reason,
        hangupBy: 'carrier',
        error: { code: outcome.reason, message: outcome.message },
      });
      if (applied?.call.submission === 'accepted') return { kind: 'placed', callUuid, status: 'ringing' };
      return { kind: 'rejected', callUuid, code: outcome.reason };
    }
    case 'throttled': {
      const removed = await removeUndialled(deps, callUuid);
      if (removed) return { kind: 'throttled', retryAfterSeconds: outcome.retryAfterSeconds };
      // It was dialled all the same, and its callback came before this answer.
      return { kind: 'placed', callUuid, status: 'ringing' };
    }
    case 'unknown': {
      deps.log.warn({ callUuid, why: outcome.why }, 'the carrier may or may not have taken the call');
      const applied = await write(deps, callUuid, { type: 'submission.unknown', why: outcome.why });
      if (applied?.call.submission === 'accepted') return { kind: 'placed', callUuid, status: 'ringing' };
      void followLateAcceptance(deps, callUuid, outcome.lateAcceptance);
      return { kind: 'unknown', callUuid };
    }
  }
}

async function followLateAcceptance(
  deps: CarrierWordDeps,
  callUuid: string,
  lateAcceptance: Promise<string | null>,
): Promise<void> {
  try {
    const carrierRequestId = await lateAcceptance;
    if (carrierRequestId !== null) await write(deps, callUuid, { type: 'submission.accepted', carrierRequestId });
  } catch (error) {
    deps.log.error({ callUuid, err: error }, 'a late acceptance could not be followed');
  }
}

/**
 * The carrier has spoken, so the database being away must not unsay it: what cannot be written now is written as soon
 * as it is back, within the time that the row's own timers leave. Null: not written yet.
 */
async function write(deps: CarrierWordDeps, callUuid: string, observation: Observation): Promise<Applied | null> {
  try {
    const applied = await deps.transitions.apply(callUuid, observation);
    return typeof applied === 'string' ? null : applied;
  } catch (error) {
    deps.log.error(
      { callUuid, err: error, observation: observation.type },
      'the carrier answered, the database did not',
    );
    const untilMs = deps.clock.nowMs() + SUBMISSION_UNKNOWN_MS;
    const again = (): void => {
      if (deps.clock.nowMs() > untilMs) return;
      deps.transitions.apply(callUuid, observation).catch(() => deps.clock.after(WRITE_AGAIN_PAUSE_MS, again));
    };
    deps.clock.after(WRITE_AGAIN_PAUSE_MS, again);
    return null;
  }
}
