/**
 * Clearance, limits, the day's ceilings and the row of one call: one transaction, all or nothing. And its contrary, for
 * an attempt that turned out to be no call. Called by `placement.ts` and `carrier-word.ts`.
 */
import type { Clock } from '../../media/contract/clock.ts';
import { auditWrite } from '../audit/record-audit.ts';
import type { CallCompliance } from '../calls/call-record.ts';
import { lockCall } from '../calls/call-row.ts';
import { PLACEMENT_LOST_MS } from '../calls/timers.ts';
import { type DayRefusal, lookAtToday, type Reservation, reserve, withdrawUsage } from '../dialling/daily-usage.ts';
import { tellOfRefusal } from '../dialling/limit-reached.ts';
import type { CallScope } from '../limits/call-limit-settings.ts';
import type { CallLimits, CallsLeft, LineTurn } from '../limits/call-limits.ts';
import { PromiseEnded } from '../limits/slot-admission.ts';
import type { Database, Queryable } from '../store/database.ts';
import { type Write, writeTogether } from '../store/joint-write.ts';
import type { WebhookDispatcher } from '../webhooks/outbox.ts';
import type { CompliancePolicy, DialClearance, NewCall, Placement } from './ports.ts';

export interface MakeCallDeps {
  database: Database;
  clock: Clock;
  /** First in the transaction that inserts the row: no permit, no dial. */
  clearance: DialClearance & CompliancePolicy;
  callLimits: Pick<CallLimits, 'admit' | 'settle' | 'release'>;
  /** For `workspace.limit_reached`. */
  webhookDispatcher: WebhookDispatcher;
}

/** How long a carrier lets it ring; stands in the row too. */
export const RING_TIMEOUT_SECONDS = 30;
/** While active calls hold what is left of the day, and give some of it back when they end. */
const DAY_HELD_RETRY_SECONDS = 30;

export type Made =
  | { ok: true; left: CallsLeft; turn: LineTurn; maxDurationSeconds: number }
  | { ok: false; refused: Placement };

/** In this order; the row takes the slot that the limits have promised. */
export async function makeCall(
  deps: MakeCallDeps,
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
export async function removeUndialled(
  { database, clearance }: Pick<MakeCallDeps, 'database' | 'clearance'>,
  callUuid: string,
): Promise<boolean> {
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
