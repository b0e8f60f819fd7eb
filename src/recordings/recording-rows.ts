/**
 * The rows of `call_recordings` as the code sees them. Reads and writes only; what follows from
 * a state is the callers' business.
 */
import type { SoundFacts } from '../calls/call-record.ts';
import type { Queryable } from '../store/database.ts';
import type { StoreKind } from './recording-store.ts';

export interface RecordingRow {
  callUuid: string;
  epoch: number;
  workspaceId: string;
  keySealed: Buffer | null;
  state: 'recording' | 'spooled' | 'stored' | 'failed' | 'erased';
  facts: SoundFacts | null;
  spoolNode: string | null;
  spoolPath: string | null;
  store: StoreKind | null;
  objectKey: string | null;
  encryptedBytes: number | null;
  attempts: number;
  nextAt: Date | null;
  lastError: string | null;
  createdAt: Date;
  /** Null: before its stream began, and where the word of that was lost. */
  streamStartedAt: Date | null;
  storedAt: Date | null;
}

/**
 * The `epoch` of the recording of the whole call, where it had to be joined from those of its streams, whose epochs
 * begin at 1.
 */
export const WHOLE_EPOCH = 0;

const COLUMN_LIST = `call_uuid AS "callUuid", epoch, workspace_id AS "workspaceId", key_sealed AS "keySealed", state, facts,
         spool_node AS "spoolNode", spool_path AS "spoolPath", store, object_key AS "objectKey",
         sealed_bytes::float AS "encryptedBytes", attempts, next_at AS "nextAt", last_error AS "lastError", created_at AS "createdAt",
         stream_started_at AS "streamStartedAt", stored_at AS "storedAt"`;
const SELECT = `SELECT ${COLUMN_LIST} FROM call_recordings`;

/**
 * Takes those that `due` selects, by call and epoch: nobody else looks at them before `until`, the place of a
 * parameter. As they are then.
 */
export function takeRecordings(
  database: Queryable,
  due: string,
  until: string,
  parameters: readonly unknown[],
): Promise<RecordingRow[]> {
  return database.query<RecordingRow>(
    `UPDATE call_recordings SET next_at = ${until} WHERE (call_uuid, epoch) IN (${due}) RETURNING ${COLUMN_LIST}`,
    parameters,
  );
}

/**
 * Of one call, by epoch: first that of the whole, if there is one. Never for an id that a client gave without its
 * workspace having been checked.
 */
export function readRecordings(database: Queryable, callUuid: string): Promise<RecordingRow[]> {
  return database.query<RecordingRow>(`${SELECT} WHERE call_uuid = $1 ORDER BY epoch`, [callUuid]);
}

/** The same, locked until the transaction ends. The call's row is locked before them, everywhere. */
export function lockRecordings(tx: Queryable, callUuid: string): Promise<RecordingRow[]> {
  return tx.query<RecordingRow>(`${SELECT} WHERE call_uuid = $1 ORDER BY epoch FOR UPDATE`, [callUuid]);
}

/** The newest of a workspace, or of all: for whoever runs the service. */
export function listRecordings(
  database: Queryable,
  { workspaceId, limit }: { workspaceId: string | null; limit: number },
): Promise<RecordingRow[]> {
  return database.query<RecordingRow>(
    `${SELECT} WHERE $1::uuid IS NULL OR workspace_id = $1 ORDER BY call_uuid DESC, epoch LIMIT $2`,
    [workspaceId, limit],
  );
}

const COLUMNS = {
  state: 'state',
  facts: 'facts',
  spoolNode: 'spool_node',
  spoolPath: 'spool_path',
  store: 'store',
  objectKey: 'object_key',
  encryptedBytes: 'sealed_bytes',
  attempts: 'attempts',
  nextAt: 'next_at',
  lastError: 'last_error',
  storedAt: 'stored_at',
  erasedAt: 'erased_at',
  keySealed: 'key_sealed',
  streamStartedAt: 'stream_started_at',
} as const;

export type RecordingPatch = { [Name in keyof typeof COLUMNS]?: unknown };

export async function patchRecording(
  tx: Queryable,
  { callUuid, epoch }: { callUuid: string; epoch: number },
  patch: RecordingPatch,
): Promise<void> {
  const entries = Object.entries(patch) as [keyof typeof COLUMNS, unknown][];
  const set = entries.map(([name], index) => `${COLUMNS[name]} = $${index + 3}${name === 'facts' ? '::jsonb' : ''}`);
  const values = entries.map(([name, value]) => (name === 'facts' && value !== null ? JSON.stringify(value) : value));
  await tx.query(`UPDATE call_recordings SET ${set.join(', ')} WHERE call_uuid = $1 AND epoch = $2`, [
    callUuid,
    epoch,
    ...values,
  ]);
}

/** Where 0 of the stream's time line is. What is told twice counts once. */
export async function streamBegan(
  tx: Queryable,
  { callUuid, epoch }: { callUuid: string; epoch: number },
  startedAt: Date,
): Promise<void> {
  await tx.query(
    'UPDATE call_recordings SET stream_started_at = coalesce(stream_started_at, $3) WHERE call_uuid = $1 AND epoch = $2',
    [callUuid, epoch, startedAt],
  );
}

/** 0 of the call's time line, ms since 1970; null where it is not known. */
export async function firstStreamBegan(tx: Queryable, callUuid: string): Promise<number | null> {
  const [first] = await tx.query<{ at: Date }>(
    'SELECT min(stream_started_at) AS at FROM call_recordings WHERE call_uuid = $1 HAVING min(stream_started_at) IS NOT NULL',
    [callUuid],
  );
  return first?.at.getTime() ?? null;
}

/**
 * The stream is over: if it never began, of a client that left before its socket was open, no recording comes of it.
 */
export async function streamNeverBegan(
  tx: Queryable,
  { callUuid, epoch }: { callUuid: string; epoch: number },
): Promise<void> {
  await tx.query(
    `UPDATE call_recordings SET state = 'failed', last_error = 'the stream never began'
      WHERE call_uuid = $1 AND epoch = $2 AND state = 'recording' AND stream_started_at IS NULL`,
    [callUuid, epoch],
  );
}
