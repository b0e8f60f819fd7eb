/**
 * Steers a call that runs (contract §13, `POST …/control`): asks the media process that carries it, and writes what was
 * done into the call's events and the audit log. Words and digits are in neither: they may be somebody's card number.
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { ControlAction, ControlOutcome, ControlRefusal } from '../../media/contract/operator-control.ts';
import type { ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { appendCallLog } from '../calls/append-call-log.ts';
import type { CallEventBus } from '../calls/call-event-bus.ts';
import { type CallRow, readCall } from '../calls/call-row.ts';
import type { Database } from '../store/database.ts';

export interface OperatorControlDeps {
  database: Database;
  clock: Clock;
  bus: Pick<CallEventBus, 'publish'>;
  media: { control(call: CallRow, action: ControlAction): Promise<ControlOutcome | 'unanswered'> };
}

export interface OperatorControlRequest {
  workspaceId: string;
  callUuid: string;
  /** Null: one that nothing serves. */
  action: ControlAction | null;
  by: ChangedBy;
}

export type OperatorControlResult =
  | 'done'
  | 'unknown_call'
  | 'not_in_progress'
  | 'unanswered'
  | Exclude<ControlRefusal, 'not_here'>;

/** What asks a call for an action, for whoever may. */
export type SteerCall = (request: OperatorControlRequest) => Promise<OperatorControlResult>;

export async function controlCall(
  deps: OperatorControlDeps,
  request: OperatorControlRequest,
): Promise<OperatorControlResult> {
  const { database, clock, bus, media } = deps;
  const { workspaceId, callUuid, action, by } = request;
  const call = await readCall(database, workspaceId, callUuid);
  if (call === undefined) return 'unknown_call';
  if (action === null) return 'unsupported';
  const isTalking = call.status === 'in_progress' && call.ending === null && call.mediaStoppedAt === null;
  if (!isTalking || call.ownerRun === null) return 'not_in_progress';
  const outcome = await media.control(call, action);
  if (outcome !== 'unanswered' && !outcome.done) return outcome.why === 'not_here' ? 'not_in_progress' : outcome.why;
  const result = outcome === 'unanswered' ? 'unanswered' : 'done';
  const events = await database.transaction(async (tx) => {
    await recordAudit(tx, {
      workspaceId,
      by,
      action: `call.control_${action.type}`,
      target: `call:${callUuid}`,
      after: { result },
    });
    const data = { action: action.type, result };
    return appendCallLog(tx, callUuid, [{ kind: 'control', data, atEpochMs: clock.epochMs() }]);
  });
  for (const event of events) bus.publish(event);
  return result;
}
