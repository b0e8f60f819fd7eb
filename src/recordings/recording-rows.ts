/**
 * The rows of `call_recordings` as the code sees them. Reads and writes only; what follows from
 * a state is the callers' business.
 */
import type { SoundFacts } from '../calls/call-record.ts';
import type { Queryable } from '../store/database.ts';
import { type Write, writeTogether } from '../store/joint-write.ts';
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

export type RecordingPatch = Partial<
  Pick<RecordingRow, Exclude<keyof typeof COLUMNS, 'erasedAt'>> & { erasedAt: Date }
>;

type RecordingId = Pick<RecordingRow, 'callUuid' | 'epoch'>;

export async function patchRecording(tx: Queryable, of: RecordingId, patch: RecordingPatch): Promise<void> {
  await writeTogether(tx, [recordingPatch(of, patch)]);
}

export function recordingPatch({ callUuid, epoch }: RecordingId, patch: RecordingPatch): Write {
  const entries = Object.entries(patch) as [keyof typeof COLUMNS, unknown][];
  return {
    sql(place) {
      const set = entries.map(([name, value]) =>
        name === 'facts'
          ? `facts = ${place(value === null ? null : JSON.stringify(value))}::jsonb`
          : `${COLUMNS[name]} = ${place(value)}`,
      );
      return `UPDATE call_recordings SET ${set.join(', ')} WHERE call_uuid = ${place(callUuid)} AND epoch = ${place(epoch)}`;
    },
  };
}

/** Where 0 of the stream's time line is. What is told twice counts once. */
export function streamBegan({ callUuid, epoch }: RecordingId, startedAt: Date): Write {
  return {
    sql: (place) =>
      `UPDATE call_recordings SET stream_started_at = coalesce(stream_started_at, ${place(startedAt)})
        WHERE call_uuid = ${place(callUuid)} AND epoch = ${place(epoch)}`,
  };
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
 * `rows`: those of its call, locked.
 */
export async function streamNeverBegan(
  tx: Queryable,
  rows: readonly RecordingRow[],
  stream: { epoch: number },
): Promise<void> {
  const row = rows.find(({ epoch }) => epoch === stream.epoch);
  if (row?.state !== 'recording' || row.streamStartedAt !== null) return;
  const failed = { state: 'failed' as const, lastError: 'the stream never began' };
  await patchRecording(tx, row, failed);
  Object.assign(row, failed);
}
