/**
 * One outbound call, from the row to the carrier's word. Called by the outbound-call route (step 12 to 15 of contract §2).
 * The row is committed before the carrier is asked, with our id in every callback address; what the carrier did with an
 * unanswered request is found out by what comes back, never by asking it to dial again.
 */
import type { Logger } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../media/contract/clock.ts';
import type { CallAdmission, DialClearance, NewCall, Placement } from '../api/outbound-call/ports.ts';
import type { Carrier, PlaceOutcome, PlaceRequest } from '../carriers/carrier.ts';
import type { CarrierRegistry } from '../carriers/registry.ts';
import type { CallLimitAnswer } from '../limits/call-limits.ts';
import type { Database, Queryable } from '../store/database.ts';
import { appendCallLog } from './call-log.ts';
import type { CallCompliance } from './call-record.ts';
import { lockCall } from './live-call.ts';
import type { Observation } from './observe.ts';
import { PLACEMENT_LOST_MS, SUBMISSION_UNKNOWN_MS } from './timers.ts';
import type { Applied, Transitions } from './transition.ts';

export interface PlacementDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  transitions: Transitions;
  registry: Pick<CarrierRegistry, 'carrierFor'>;
  admission: CallAdmission;
  /** First in the transaction that inserts the row: no permit, no dial. */
  clearance: DialClearance;
  /** Runs in the transaction that inserts the row. */
  checkCallLimits(tx: Queryable, scope: { workspaceId: string; lineId: string }): Promise<CallLimitAnswer>;
  /** No slash at its end. */
  publicUrl: string;
}

const RING_TIMEOUT_SECONDS = 30;
const MAX_DURATION_SECONDS = { preset: 1_800, least: 30, most: 14_400 };
/** A 429 that asks for a longer pause than this is passed on at once. */
const LONGEST_RETRY_PAUSE_SECONDS = 1;
const WRITE_AGAIN_PAUSE_MS = 1_000;

export async function placeCall(deps: PlacementDeps, call: NewCall): Promise<Placement> {
  if (deps.admission.state() !== 'open') return { kind: 'draining' };
  const carrier = deps.registry.carrierFor(call.line.carrier, call.line.credentials);
  const callUuid = uuidv7();
  const maxDurationSeconds = Math.min(
    MAX_DURATION_SECONDS.most,
    Math.max(MAX_DURATION_SECONDS.least, call.agent.definition.maxDurationSeconds ?? MAX_DURATION_SECONDS.preset),
  );

  const refused = await deps.database.transaction(async (tx): Promise<Placement | null> => {
    const verdict = await deps.clearance.judge(tx, call);
    if (!verdict.ok) return { kind: 'blocked', code: verdict.code };
    const limits = await deps.checkCallLimits(tx, { workspaceId: call.workspaceId, lineId: call.line.id });
    if (!limits.ok) return { kind: 'limited', code: limits.code, retryAfterSeconds: limits.retryAfterSeconds };
    const compliance = await verdict.grant(callUuid);
    await insertCall(tx, deps.clock, call, { callUuid, maxDurationSeconds, compliance });
    return null;
  });
  if (refused !== null) return refused;

  const outcome = await askCarrier(deps, carrier, callUuid, {
    callUuid,
    to: call.to,
    from: call.line.number,
    ringTimeoutSeconds: RING_TIMEOUT_SECONDS,
    maxDurationSeconds,
    callbackBase: `${deps.publicUrl}/carriers/${call.line.carrier}/${callUuid}`,
  });
  return concluded(deps, callUuid, outcome);
}

/** The one repetition that there is: of an explicit 429, once, when the carrier says that a second is enough. */
async function askCarrier(
  deps: PlacementDeps,
  carrier: Carrier,
  callUuid: string,
  request: PlaceRequest,
): Promise<PlaceOutcome> {
  const place = async (): Promise<PlaceOutcome> => {
    try {
      return await carrier.place(request);
    } catch (error) {
      deps.log.error({ callUuid, err: error }, 'the carrier client failed while placing a call');
      return { kind: 'unknown', why: 'the carrier client failed', lateAcceptance: Promise.resolve(null) };
    }
  };
  const first = await place();
  if (first.kind !== 'throttled' || first.retrySafe !== true) return first;
  if (first.retryAfterSeconds > LONGEST_RETRY_PAUSE_SECONDS) return first;
  await new Promise<void>((resolve) => deps.clock.after(first.retryAfterSeconds * 1000, resolve));
  return place();
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
        error: { code: outcome.reason, message: outcome.message, provider: null, retryable: false },
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
 * The carrier has spoken, so the database being away must not unsay it: what cannot be written now is written as soon as it
 * is back, within the time that the row's own timers leave. Null: not written yet.
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

async function insertCall(
  tx: Queryable,
  clock: Clock,
  call: NewCall,
  made: { callUuid: string; maxDurationSeconds: number; compliance: CallCompliance },
): Promise<void> {
  const { callUuid, maxDurationSeconds, compliance } = made;
  const nowEpochMs = clock.epochMs();
  const now = new Date(nowEpochMs);
  await tx.query(
    `INSERT INTO calls (call_uuid, workspace_id, agent_id, agent_version, line_id, to_number, from_number, name, metadata,
                        idempotency_key, request_id, status, carrier, created_at, dialed_at, deadline_at,
                        ring_timeout_seconds, max_duration_seconds, late_acceptance, idempotency_path,
                        lead_id, lead_values, compliance)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'dialing', $12, $13, $13, $14, $15, $16, $17, $18, $19, $20, $21)`,
    [
      callUuid,
      call.workspaceId,
      call.agent.id,
      call.agent.version,
      call.line.id,
      call.to,
      call.line.number,
      call.name,
      JSON.stringify(call.metadata),
      call.idempotencyKey,
      call.requestId,
      call.line.carrier,
      now,
      new Date(nowEpochMs + PLACEMENT_LOST_MS),
      RING_TIMEOUT_SECONDS,
      maxDurationSeconds,
      call.lateAcceptance,
      call.idempotencyKey === null ? null : call.idempotencyPath,
      call.lead?.id ?? null,
      call.lead === null ? null : JSON.stringify(call.lead.values),
      JSON.stringify(compliance),
    ],
  );
  await appendCallLog(tx, callUuid, [{ kind: 'status', data: { status: 'dialing' }, atEpochMs: nowEpochMs }]);
}

/** A throttled attempt is no call (contract §1). False when a callback has shown meanwhile that it is one. */
async function removeUndialled({ database, clearance }: PlacementDeps, callUuid: string): Promise<boolean> {
  return database.transaction(async (tx) => {
    const call = await lockCall(tx, callUuid);
    if (call === undefined) return true;
    if (call.status !== 'dialing' || call.carrierCallId !== null) return false;
    await tx.query('DELETE FROM call_events WHERE call_uuid = $1', [callUuid]);
    await tx.query('DELETE FROM calls WHERE call_uuid = $1', [callUuid]);
    await clearance.withdraw(tx, call);
    return true;
  });
}
