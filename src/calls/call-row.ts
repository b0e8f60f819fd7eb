/**
 * A row of `calls` with the columns that only its life needs, and how to read it. Used by everything that changes
 * calls: `src/lifecycle`, `src/media-link` and the carrier routes; the API reads the public
 * `CallRecord` part by `readCall`.
 */
import type { EndedReason, HangupBy } from '../../media/contract/call-outcome.ts';
import type { Queryable } from '../store/database.ts';
import type { Place } from '../store/joint-write.ts';
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

/** What whoever has locked the row may know beside it. */
export interface LockedCall extends CallRow {
  /** Of its next webhook event. */
  nextSequence: number;
  /** Of the day's seconds, while it is not over; null: its workspace has no ceilings. */
  dialReservedSeconds: number | null;
  /** Of the token that its stream is, or was, claimed with; null: the carrier has been told none. */
  mediaTokenSha256: Buffer | null;
  /** Opt-in webhook events that its workspace has asked for. */
  optInEvents: string[];
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

const LOCKED_COLUMNS = {
  nextSequence: 'next_sequence',
  dialReservedSeconds: 'dial_reserved_seconds',
  mediaTokenSha256: 'media_token_sha256',
} as const;

const COLUMN_OF = { ...COLUMNS, ...LOCKED_COLUMNS };

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

const listOf = (columns: Readonly<Record<string, string>>): string =>
  Object.entries(columns)
    .map(([property, column]) => `c.${column} AS "${property}"`)
    .join(', ');

const SELECT_LIST = listOf(COLUMNS);

/** With every property of `CallRow`; the caller adds WHERE, with `c` for the call. */
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

const SELECT_LOCKED = `
  SELECT ${SELECT_LIST}, ${listOf(LOCKED_COLUMNS)}, w.slug AS enterprise, coalesce(e.events, '{}') AS "optInEvents"
    FROM calls c JOIN workspaces w ON w.id = c.workspace_id
    LEFT JOIN webhook_endpoints e ON e.workspace_id = c.workspace_id`;

/** The row, locked until the transaction ends: every change of a call begins here. */
export async function lockCall(tx: Queryable, callUuid: string): Promise<LockedCall | undefined> {
  return (await tx.query<LockedCall>(`${SELECT_LOCKED} WHERE c.call_uuid = $1 FOR UPDATE OF c`, [callUuid]))[0];
}

/** The same for several, by call; always in one order, so that no two wait for each other. */
export async function lockCalls(tx: Queryable, callUuids: readonly string[]): Promise<Map<string, LockedCall>> {
  const rows = await tx.query<LockedCall>(
    `${SELECT_LOCKED} WHERE c.call_uuid = ANY ($1::uuid[]) ORDER BY c.call_uuid FOR UPDATE OF c`,
    [callUuids],
  );
  return new Map(rows.map((row) => [row.callUuid, row]));
}

/**
 * May a media process write of the call with this epoch? Not when another one has claimed it since, and not when its
 * own run was given up. The one fence: whatever writes for media asks it, on the locked row (`write-talk.ts` in SQL).
 */
export function isWriter(call: Pick<CallRow, 'epoch' | 'orphanedAt'>, epoch: number): boolean {
  return call.epoch === epoch && call.orphanedAt === null;
}

export type CallPatch = Partial<Omit<LockedCall, 'enterprise' | 'callUuid' | 'workspaceId' | 'optInEvents'>>;

/** What an UPDATE of the row sets. */
export function assignmentsOf(patch: CallPatch, place: Place): string[] {
  return Object.entries(patch).map(([property, value]) => {
    const isJson = JSON_PROPERTIES.has(property);
    const given = place(isJson && value !== null ? JSON.stringify(value) : value);
    return `${COLUMN_OF[property as keyof typeof COLUMN_OF]} = ${given}${isJson ? '::jsonb' : ''}`;
  });
}

/** Writes the named properties of a locked row. */
export async function patchCall(tx: Queryable, callUuid: string, patch: CallPatch): Promise<void> {
  if (Object.keys(patch).length === 0) return;
  const values: unknown[] = [callUuid];
  const assignments = assignmentsOf(patch, (value) => `$${values.push(value)}`);
  await tx.query(`UPDATE calls SET ${assignments.join(', ')} WHERE call_uuid = $1`, values);
}
