/** The rows of `call_recordings` as the code sees them. Reads and writes only; what follows from a state is the callers' business. */
import type { RecordingFacts } from '../../media/contract/conversation.ts';
import type { Queryable } from '../store/database.ts';
import type { StoreKind } from './recording-store.ts';

/** What a client may know of a sound file; where it lies is not among it. */
export type SoundFacts = Omit<RecordingFacts, 'path'>;

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
  sealedBytes: number | null;
  attempts: number;
  nextAt: Date | null;
  lastError: string | null;
  createdAt: Date;
}

const SELECT = `
  SELECT call_uuid AS "callUuid", epoch, workspace_id AS "workspaceId", key_sealed AS "keySealed", state, facts,
         spool_node AS "spoolNode", spool_path AS "spoolPath", store, object_key AS "objectKey",
         sealed_bytes::float AS "sealedBytes", attempts, next_at AS "nextAt", last_error AS "lastError", created_at AS "createdAt"
    FROM call_recordings`;

/** Of one call, by epoch. Never for an id that a client gave without its workspace having been checked. */
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
  sealedBytes: 'sealed_bytes',
  attempts: 'attempts',
  nextAt: 'next_at',
  lastError: 'last_error',
  storedAt: 'stored_at',
  erasedAt: 'erased_at',
  keySealed: 'key_sealed',
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
