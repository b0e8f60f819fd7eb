/**
 * One outbound call, from its turn among all workspaces to the carrier's word. Called by the outbound-call route and by
 * that of leads (steps 11 to 15 of contract §2). In order: a place in the fair queue, clearance, limits, the row, the
 * line's turn at the carrier. The row is committed before the carrier is asked, with our id in every callback address;
 * what the carrier did with an unanswered request is found out by what comes back, never by asking it to dial again.
 */
import type { Logger } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import { usesLocalEngines } from '../../media/contract/agent-definition.ts';
import { type Clock, pause } from '../../media/contract/clock.ts';
import { auditWrite } from '../audit/record-audit.ts';
import type { CallCompliance } from '../calls/call-record.ts';
import { lockCall } from '../calls/call-row.ts';
import { PLACEMENT_LOST_MS, SUBMISSION_UNKNOWN_MS } from '../calls/timers.ts';
import { callbackBaseOf } from '../carriers/callback-address.ts';
import type { Carrier, PlaceOutcome, PlaceRequest } from '../carriers/carrier.ts';
import type { CarrierRegistry } from '../carriers/registry.ts';
import { LEAST_CALL_SECONDS, MOST_CALL_SECONDS } from '../dialling/daily-ceilings.ts';
import { type DayRefusal, lookAtToday, type Reservation, reserve, withdrawUsage } from '../dialling/daily-usage.ts';
import { tellOfRefusal } from '../dialling/limit-reached.ts';
import type { DialledCalls } from '../lifecycle/dialled-calls.ts';
import type { LineCarriers } from '../lifecycle/line-carriers.ts';
import type { Observation } from '../lifecycle/observe.ts';
import type { Applied, Transitions } from '../lifecycle/transition.ts';
import type { CallLimits, CallsLeft, LineTurn } from '../limits/call-limits.ts';
import type { CallRoom } from '../limits/call-room.ts';
import type { FairQueue } from '../limits/fair-queue.ts';
import { PromiseEnded } from '../limits/slot-admission.ts';
import type { Database, Queryable } from '../store/database.ts';
import { type Write, writeTogether } from '../store/joint-write.ts';
import type { WebhookDispatcher } from '../webhooks/outbox.ts';
import type { CallAdmission, CompliancePolicy, DialClearance, NewCall, Placement } from './ports.ts';

export interface PlacementDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  transitions: Transitions;
  registry: Pick<CarrierRegistry, 'carrierFor'>;
  dialledCalls: Pick<DialledCalls, 'placed'>;
  lineCarriers: Pick<LineCarriers, 'placedWith'>;
  admission: CallAdmission;
  /** Who will talk to it: taken before the carrier is asked, so that what cannot be served rings nowhere. */
  room: Pick<CallRoom, 'take' | 'release'>;
  /** First in the transaction that inserts the row: no permit, no dial. */
  clearance: DialClearance & CompliancePolicy;
  callLimits: CallLimits;
  /** Placements under way, of all workspaces in turn: they wait for the carrier. */
  carrierTurns: FairQueue;
  /**
   * The part of them that works in the database. Each needs two connections at once, so fewer
   * than half of those that there are.
   */
  databaseTurns: FairQueue;
  /** No slash at its end. */
  publicUrl: string;
  /** For `workspace.limit_reached`. */
  webhookDispatcher: WebhookDispatcher;
}

const RING_TIMEOUT_SECONDS = 30;
const MAX_DURATION_SECONDS = { preset: 1_800, least: LEAST_CALL_SECONDS, most: MOST_CALL_SECONDS };
/** While active calls hold what is left of the day, and give some of it back when they end. */
const DAY_HELD_RETRY_SECONDS = 30;
/** What a client is told that found the queue full or waited its longest in it. */
const OVERLOADED: Placement = { kind: 'draining', code: 'overloaded', retryAfterSeconds: 2 };
/** A 429 that asks for a longer pause than this is passed on at once. */
const LONGEST_RETRY_PAUSE_SECONDS = 1;
const WRITE_AGAIN_PAUSE_MS = 1_000;

interface CallScope {
  workspaceId: string;
  lineId: string;
}

export async function placeCall(deps: PlacementDeps, call: NewCall): Promise<Placement> {
  if (deps.admission.state() !== 'open') return { kind: 'draining' };
  const release = await deps.carrierTurns.enter(call.workspaceId, call.priority ?? 'api');
  if (release === null) return OVERLOADED;
  try {
    return await placeWithRoom(deps, call);
  } finally {
    release();
  }
}

/**
 * A place in front of voice and recogniser, kept from before the row until the call is carried
 * or over. What uses neither needs none.
 */
async function placeWithRoom(deps: PlacementDeps, call: NewCall): Promise<Placement> {
  // Its time is that of its row: by it a key's call is found, whatever the machine's clock says.
  const callUuid = uuidv7({ msecs: Math.floor(deps.clock.epochMs()) });
  if (usesLocalEngines(call.agent.definition) && !deps.room.take(callUuid, call.priority ?? 'api')) return OVERLOADED;
  let rings = false;
  try {
    const placement = await placeInTurn(deps, call, callUuid);
    rings = placement.kind === 'placed' || placement.kind === 'unknown';
    return placement;
  } finally {
    if (!rings) deps.room.release(callUuid);
  }
}

async function placeInTurn(deps: PlacementDeps, call: NewCall, callUuid: string): Promise<Placement> {
  const carrier = deps.registry.carrierFor(call.line.carrier, call.line.credentials);
  const scope = { workspaceId: call.workspaceId, lineId: call.line.id };
  const longestSeconds = Math.min(
    MAX_DURATION_SECONDS.most,
    Math.max(MAX_DURATION_SECONDS.least, call.agent.definition.maxDurationSeconds ?? MAX_DURATION_SECONDS.preset),
  );

  const release = await deps.databaseTurns.enter(call.workspaceId, call.priority ?? 'api');
  if (release === null) return OVERLOADED;
  let made: Made;
  try {
    made = await makeCall(deps, call, scope, { callUuid, longestSeconds });
  } finally {
    release();
  }
  if (!made.ok) return made.refused;
  const { left, turn, maxDurationSeconds } = made;
  const { id: lineId, carrier: carrierName, credentialsVersion = null } = call.line;
  deps.dialledCalls.placed({
    callUuid,
    agentId: call.agent.id,
    agentVersion: call.agent.version,
    lineId,
    carrier: carrierName,
    lineCredentialsVersion: credentialsVersion,
  });
  if (credentialsVersion !== null) deps.lineCarriers.placedWith(carrier, { lineId, version: credentialsVersion });

  const outcome = await askCarrier(deps, carrier, call, turn, {
    callUuid,
    to: call.to,
    from: call.line.number,
    ringTimeoutSeconds: RING_TIMEOUT_SECONDS,
    maxDurationSeconds,
    callbackBase: callbackBaseOf(deps.publicUrl, call.line.carrier, callUuid),
  });
  if (outcome.kind === 'no_turn' || outcome.kind === 'blocked') {
    await removeUndialled(deps, callUuid);
    await deps.callLimits.release(scope, callUuid);
    if (outcome.kind === 'blocked') return outcome;
    return { kind: 'limited', code: 'cps_limit', retryAfterSeconds: 1, left };
  }
  const placement = await concluded(deps, callUuid, outcome);
  if (placement.kind === 'throttled') await deps.callLimits.release(scope, callUuid);
  return placement.kind === 'placed' ? { ...placement, left } : placement;
}

/** The carrier was not asked. */
type NotDialled = { kind: 'no_turn' } | Extract<Placement, { kind: 'blocked' }>;

type Made =
  | { ok: true; left: CallsLeft; turn: LineTurn; maxDurationSeconds: number }
  | { ok: false; refused: Placement };

/**
 * Clearance first, then the limits, then the day's ceilings and the row that takes the promised slot: all or nothing.
 */
async function makeCall(
  deps: PlacementDeps,
  call: NewCall,
  scope: CallScope,
  made: { callUuid: string; longestSeconds: number },
): Promise<Made> {
  const { callUuid } = made;
  const toldIds: string[] = [];
  let admitted: CallsLeft | null = null;
  let done: Made | null = null;
  try {
    done = await deps.database.transaction(async (tx): Promise<Made> => {
      const verdict = await deps.clearance.judge(tx, call);
      if (!verdict.ok) return { ok: false, refused: { kind: 'blocked', code: verdict.code } };
      const { ceilings } = verdict;
      const dayOver = async (refusal: DayRefusal): Promise<Made> => {
        toldIds.push(...(await tellOfRefusal(tx, call, refusal, deps.clock)));
        return { ok: false, refused: dailyLimit(refusal) };
      };
      const asked = { workspaceId: call.workspaceId, keyId: call.keyId ?? null };
      const day = ceilings === null ? null : await lookAtToday(tx, { ...asked, ceilings });
      if (day !== null && day.refusal !== null) return dayOver(day.refusal);
      // On a connection of its own: what it locks is free again at once, not when this transaction ends.
      const limits = await deps.callLimits.admit(scope, callUuid, call.limits);
      const { left } = limits;
      if (!limits.ok) {
        const { code, retryAfterSeconds } = limits;
        return { ok: false, refused: { kind: 'limited', code, retryAfterSeconds, left } };
      }
      admitted = left;
      const wantedSeconds = Math.min(made.longestSeconds, verdict.maxCallSeconds ?? made.longestSeconds);
      const reserved = day === null ? null : await reserve(tx, day, wantedSeconds);
      if (reserved !== null && !reserved.ok) return dayOver(reserved.refusal);
      const reservation = reserved?.reservation ?? null;
      const maxDurationSeconds = reservation?.seconds ?? wantedSeconds;
      const { compliance, writes } = verdict.grant(callUuid);
      const row = { callUuid, maxDurationSeconds, compliance, reservation };
      const placed = callWrites(tx, deps.clock, call, row);
      await writeTogether(tx, [deps.callLimits.settle(callUuid), ...writes, ...placed]);
      return { ok: true, left, turn: limits.turn, maxDurationSeconds };
    });
    if (toldIds.length > 0) deps.webhookDispatcher.dispatch(toldIds);
    return done;
  } catch (error) {
    if (!(error instanceof PromiseEnded) || admitted === null) throw error;
    const left = admitted;
    return { ok: false, refused: { kind: 'limited', code: 'concurrency_limit', retryAfterSeconds: 1, left } };
  } finally {
    // Were the row there although COMMIT was not answered, it would hold its slot by itself.
    if (admitted !== null && done?.ok !== true) deps.callLimits.release(scope, callUuid).catch(() => {});
  }
}

function dailyLimit({ reached, day }: DayRefusal): Placement {
  const { name, value, isSpent } = reached;
  const untilReset = Math.max(1, day.resetsInSeconds);
  const retryAfterSeconds = isSpent ? untilReset : Math.min(DAY_HELD_RETRY_SECONDS, untilReset);
  return { kind: 'limited', code: 'daily_limit', retryAfterSeconds, ceiling: { name, value } };
}

/** The one repetition that there is: of an explicit 429, once, when the carrier says that a second is enough. */
async function askCarrier(
  deps: PlacementDeps,
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

async function concluded(deps: PlacementDeps, callUuid: string, outcome: PlaceOutcome): Promise<Placement> {
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
  deps: PlacementDeps,
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
async function write(deps: PlacementDeps, callUuid: string, observation: Observation): Promise<Applied | null> {
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

/** The row, its first line and its entry in the audit. */
function callWrites(
  tx: Queryable,
  clock: Clock,
  call: NewCall,
  made: {
    callUuid: string;
    maxDurationSeconds: number;
    compliance: CallCompliance;
    reservation: Reservation | null;
  },
): Write[] {
  const { callUuid, maxDurationSeconds, compliance, reservation } = made;
  const nowEpochMs = clock.epochMs();
  const now = new Date(nowEpochMs);
  const columns = {
    call_uuid: callUuid,
    workspace_id: call.workspaceId,
    agent_id: call.agent.id,
    agent_version: call.agent.version,
    line_id: call.line.id,
    to_number: call.to,
    from_number: call.line.number,
    name: call.name,
    metadata: JSON.stringify(call.metadata),
    idempotency_key: call.idempotencyKey,
    request_id: call.requestId,
    status: 'dialing',
    carrier: call.line.carrier,
    created_at: now,
    dialed_at: now,
    deadline_at: new Date(nowEpochMs + PLACEMENT_LOST_MS),
    ring_timeout_seconds: RING_TIMEOUT_SECONDS,
    max_duration_seconds: maxDurationSeconds,
    late_acceptance: call.lateAcceptance,
    idempotency_path: call.idempotencyKey === null ? null : call.idempotencyPath,
    lead_id: call.lead?.id ?? null,
    lead_values: call.lead === null ? null : JSON.stringify(call.lead.values),
    compliance: JSON.stringify(compliance),
    line_credentials_version: call.line.credentialsVersion ?? null,
    dial_key: reservation === null ? (call.keyId ?? null) : reservation.countedFor,
    dial_day: reservation?.dayBeganAt ?? null,
    dial_reserved_seconds: reservation?.seconds ?? null,
  };
  return [
    {
      sql: (place) =>
        `INSERT INTO calls (${Object.keys(columns).join(', ')}) VALUES (${Object.values(columns).map(place).join(', ')})`,
    },
    {
      sql: (place) =>
        `INSERT INTO call_events (call_uuid, at, kind, data)
         VALUES (${place(callUuid)}, ${place(now)}, 'status', ${place(JSON.stringify({ status: 'dialing' }))})`,
    },
    auditWrite(tx, {
      workspaceId: call.workspaceId,
      by: call.by ?? { actor: 'system:placement', requestId: call.requestId },
      action: 'call.placed',
      target: `call:${callUuid}`,
      after: { agentId: call.agent.id, lineId: call.line.id, leadId: call.lead?.id ?? null },
    }),
  ];
}

/** A throttled attempt is no call (contract §1). False when a callback has shown meanwhile that it is one. */
async function removeUndialled({ database, clearance }: PlacementDeps, callUuid: string): Promise<boolean> {
  return database.transaction(async (tx) => {
    const call = await lockCall(tx, callUuid);
    if (call === undefined) return true;
    if (call.status !== 'dialing' || call.carrierCallId !== null) return false;
    await clearance.withdraw(tx, call);
    await withdrawUsage(tx, call);
    await tx.query('DELETE FROM call_events WHERE call_uuid = $1', [callUuid]);
    await tx.query('DELETE FROM calls WHERE call_uuid = $1', [callUuid]);
    return true;
  });
}
