/**
 * Looks at stored recordings one after another: is each there, whole, and the one that was recorded? Changes nothing.
 * For the command line.
 */
import { EncryptedFileBroken } from '../../media/files/encrypted-file.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Queryable } from '../store/database.ts';
import { compareEncrypted } from './compare-encrypted.ts';
import type { Stores } from './open-stores.ts';
import { openRecordingKey, RecordingKeyLost } from './recording-keys.ts';
import { listRecordings, type RecordingRow } from './recording-rows.ts';

export interface Verdict {
  callUuid: string;
  epoch: number;
  verdict: 'ok' | 'waiting' | 'missing' | 'damaged' | 'unreadable' | 'unreachable' | 'failed';
  detail: string;
}

export interface VerifyDeps {
  database: Queryable;
  sealer: Pick<Sealer, 'open'>;
  stores: Stores;
}

/** The newest `limit` of a workspace, or of all; what was erased and what is still being recorded is passed over. */
export async function* verifyRecordings(
  deps: VerifyDeps,
  what: { workspaceId: string | null; limit: number },
): AsyncGenerator<Verdict, void, undefined> {
  for (const row of await listRecordings(deps.database, what)) {
    if (row.state === 'erased' || row.state === 'recording') continue;
    const { callUuid, epoch } = row;
    yield { callUuid, epoch, ...(await judge(deps, row)) };
  }
}

async function judge(deps: VerifyDeps, row: RecordingRow): Promise<Pick<Verdict, 'verdict' | 'detail'>> {
  if (row.state === 'failed') return { verdict: 'failed', detail: row.lastError ?? 'it was never finished' };
  if (row.state === 'spooled') return { verdict: 'waiting', detail: row.lastError ?? 'on its way to the store' };
  try {
    const store = deps.stores.of(row.store);
    const objectKey = row.objectKey ?? '';
    const dataKey = openRecordingKey(deps.sealer, row);
    const size = await store.size(objectKey);
    if (size === null) return { verdict: 'missing', detail: `${store.place} has no ${objectKey}` };
    await compareEncrypted(row.facts, dataKey, size, (start, end) => store.read(objectKey, start, end));
    return { verdict: 'ok', detail: `${row.facts?.sizeBytes ?? 0} bytes, ${(row.facts?.durationMs ?? 0) / 1000} s` };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    if (error instanceof EncryptedFileBroken) return { verdict: 'damaged', detail };
    return { verdict: error instanceof RecordingKeyLost ? 'unreadable' : 'unreachable', detail };
  }
}

/** Recordings whose key does not open under this master key: nobody can play them. */
export async function unreadableRecordings(
  database: Queryable,
  sealer: Pick<Sealer, 'open'>,
): Promise<{ callUuid: string; workspaceId: string }[]> {
  const rows = await database.query<{ callUuid: string; epoch: number; workspaceId: string; keySealed: Buffer }>(
    `SELECT call_uuid AS "callUuid", epoch, workspace_id AS "workspaceId", key_sealed AS "keySealed"
       FROM call_recordings WHERE key_sealed IS NOT NULL ORDER BY call_uuid`,
  );
  const calls = new Map<string, string>();
  for (const row of rows) {
    try {
      openRecordingKey(sealer, row);
    } catch {
      calls.set(row.callUuid, row.workspaceId);
    }
  }
  return [...calls].map(([callUuid, workspaceId]) => ({ callUuid, workspaceId }));
}
