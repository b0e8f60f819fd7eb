/**
 * A row of `calls` with the columns that only its life needs, and how to read it. Used by everything that changes
 * calls: `src/lifecycle`, `src/media-link` and the carrier routes; the API reads the public
 * `CallRecord` part by `readCall`.
 */
import type { EndedReason, HangupBy } from '../../media/contract/call-outcome.ts';
import type { Queryable } from '../store/database.ts';
import type { CallRecord } from './call-record.ts';

/** How a call is ending; the first to say so wins, and the terminal state is made of it. */
export interface Ending {
  reason: EndedReason;
  hangupBy: HangupBy | null;
  sipCode: number | null;
  /** The carrier's own word for it. */
  carrierCause: string | null;
  error: CallRecord['error'];
  /** When the ending began; bounds how long the rest may take. */
  atEpochMs: number;
}

export interface CallRow extends CallRecord {
  ringTimeoutSeconds: number;
  maxDurationSeconds: number;
  /**
   * What to do when the carrier accepts after all: the client holds a key and waits
   * (`continue`), or was told 500 (`cancel`).
   */
  lateAcceptance: 'continue' | 'cancel';
  submissionAt: Date | null;
  ending: Ending | null;
  /**
   * An operator asked for its end at the command line, which has no way to the carrier: the
   * service that runs carries it out.
   */
  endAskedAt: Date | null;
  mediaTokenUsedAt: Date | null;
  /** Of the line's credentials, as the call was placed with; null: the line's current ones. */
  lineCredentialsVersion: number | null;
  /** `notes` and `source` of the lead, for placeholders. */
  leadValues: Record<string, string> | null;
}

/** Column by property, for everything that this file reads. `enterprise` is joined in. */
const COLUMNS: Record<Exclude<keyof CallRow, 'enterprise'>, string> = {
  callUuid: 'call_uuid',
  workspaceId: 'workspace_id',
  agentId: 'agent_id',
  agentVersion: 'agent_version',
  lineId: 'line_id',
  leadId: 'lead_id',
  channel: 'channel',
  direction: 'direction',
  toNumber: 'to_number',
  fromNumber: 'from_number',
  name: 'name',
  metadata: 'metadata',
  idempotencyKey: 'idempotency_key',
  requestId: 'request_id',
  status: 'status',
  endedReason: 'ended_reason',
  hangupBy: 'hangup_by',
  fault: 'fault',
  sipCode: 'sip_code',
  error: 'error',
  submission: 'submission',
  carrier: 'carrier',
  carrierRequestId: 'carrier_request_id',
  carrierCallId: 'carrier_call_id',
  assignedRun: 'assigned_run',
  ownerRun: 'owner_run',
  ownerMediaId: 'owner_media_id',
  epoch: 'epoch',
  // In the future: of a claim by an earlier version, which renews it.
  orphanedAt: 'lease_until',
  checkpoint: 'checkpoint',
  mediaStoppedAt: 'media_stopped_at',
  carrierEndedAt: 'carrier_ended_at',
  createdAt: 'created_at',
  dialedAt: 'dialed_at',
  ringingAt: 'ringing_at',
  answeredAt: 'answered_at',
  endedAt: 'ended_at',
  deadlineAt: 'deadline_at',
  answeredBy: 'answered_by',
  recordingStatus: 'recording_status',
  transcriptStatus: 'transcript_status',
  analysisStatus: 'analysis_status',
  recording: 'recording',
  recordings: 'recordings',
  latency: 'latency',
  analysis: 'analysis',
  falseBargeIns: 'false_barge_ins',
  warnings: 'warnings',
  compliance: 'compliance',
  ringTimeoutSeconds: 'ring_timeout_seconds',
  maxDurationSeconds: 'max_duration_seconds',
  lateAcceptance: 'late_acceptance',
  submissionAt: 'submission_at',
  ending: 'ending',
  endAskedAt: 'end_asked_at',
  mediaTokenUsedAt: 'media_token_used_at',
  lineCredentialsVersion: 'line_credentials_version',
  leadValues: 'lead_values',
};

const JSON_PROPERTIES: ReadonlySet<string> = new Set([
  'metadata',
  'error',
  'checkpoint',
  'recording',
  'recordings',
  'latency',
  'analysis',
  'warnings',
  'ending',
  'compliance',
  'leadValues',
]);

const SELECT_LIST = Object.entries(COLUMNS)
  .map(([property, column]) => `c.${column} AS "${property}"`)
  .join(', ');

/** `SELECT` with every property of `CallRow`; the caller adds WHERE, with `c` for the call. */
export const SELECT_CALL = `SELECT ${SELECT_LIST}, w.slug AS enterprise FROM calls c JOIN workspaces w ON w.id = c.workspace_id`;

/** For the API: a client may only name calls of its own workspace. */
export async function readCall(
  database: Queryable,
  workspaceId: string,
  callUuid: string,
): Promise<CallRow | undefined> {
  const rows = await database.query<CallRow>(`${SELECT_CALL} WHERE c.workspace_id = $1 AND c.call_uuid = $2`, [
    workspaceId,
    callUuid,
  ]);
  return rows[0];
}

/** The same for many, in no order. */
export function readCalls(database: Queryable, workspaceId: string, callUuids: readonly string[]): Promise<CallRow[]> {
  return database.query<CallRow>(`${SELECT_CALL} WHERE c.workspace_id = $1 AND c.call_uuid = ANY ($2::uuid[])`, [
    workspaceId,
    callUuids,
  ]);
}

/** For our own parts (callbacks, media, timers), whose ids come from ourselves. Never for an id that a client gave. */
export async function readOwnCall(database: Queryable, callUuid: string): Promise<CallRow | undefined> {
  return (await database.query<CallRow>(`${SELECT_CALL} WHERE c.call_uuid = $1`, [callUuid]))[0];
}

/** The row, locked until the transaction ends: every change of a call begins here. */
export async function lockCall(tx: Queryable, callUuid: string): Promise<CallRow | undefined> {
  return (await tx.query<CallRow>(`${SELECT_CALL} WHERE c.call_uuid = $1 FOR UPDATE OF c`, [callUuid]))[0];
}

/** The same for several, by call; always in one order, so that no two wait for each other. */
export async function lockCalls(tx: Queryable, callUuids: readonly string[]): Promise<Map<string, CallRow>> {
  const rows = await tx.query<CallRow>(
    `${SELECT_CALL} WHERE c.call_uuid = ANY ($1::uuid[]) ORDER BY c.call_uuid FOR UPDATE OF c`,
    [callUuids],
  );
  return new Map(rows.map((row) => [row.callUuid, row]));
}

/**
 * As `lockCall`, for who takes the call's stream: undefined too where that run is dead. Until the commit it cannot die.
 */
export async function lockCallForRun(tx: Queryable, callUuid: string, runId: string): Promise<CallRow | undefined> {
  const rows = await tx.query<CallRow>(
    `${SELECT_CALL} JOIN media_runs r ON r.run_id = $2 AND r.dead_at IS NULL
      WHERE c.call_uuid = $1 FOR UPDATE OF c FOR KEY SHARE OF r`,
    [callUuid, runId],
  );
  return rows[0];
}

/**
 * May a media process write of the call with this epoch? Not when another one has claimed it since, and not when its
 * own run was given up. The one fence: whatever writes for media asks it, on the locked row.
 */
export function isWriter(call: Pick<CallRow, 'epoch' | 'orphanedAt'>, epoch: number): boolean {
  return call.epoch === epoch && call.orphanedAt === null;
}

export type CallPatch = Partial<Omit<CallRow, 'enterprise' | 'callUuid' | 'workspaceId'>>;

/** What an UPDATE of the row sets, and the values, whose places begin at `firstPlace`. */
export function assignmentsOf(patch: CallPatch, firstPlace: number): { assignments: string[]; values: unknown[] } {
  const entries = Object.entries(patch);
  const assignments = entries.map(([property], index) => {
    const column = COLUMNS[property as keyof typeof COLUMNS];
    return `${column} = $${index + firstPlace}${JSON_PROPERTIES.has(property) ? '::jsonb' : ''}`;
  });
  const values = entries.map(([property, value]) =>
    JSON_PROPERTIES.has(property) && value !== null ? JSON.stringify(value) : value,
  );
  return { assignments, values };
}

/** Writes the named properties of a locked row. */
export async function patchCall(tx: Queryable, callUuid: string, patch: CallPatch): Promise<void> {
  const { assignments, values } = assignmentsOf(patch, 2);
  if (assignments.length === 0) return;
  await tx.query(`UPDATE calls SET ${assignments.join(', ')} WHERE call_uuid = $1`, [callUuid, ...values]);
}
