/**
 * The data key of each recording: made when media claims the stream, kept under the master key in the recording's row,
 * and nowhere else. Erasing the row's key makes every copy of the recording unreadable, backups included.
 */
import { randomBytes } from 'node:crypto';
import type { RecordingDisposition } from '../../media/contract/link-messages.ts';
import { type SealedPlace, sealedPlace } from '../sealing/sealed-places.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Queryable } from '../store/database.ts';
import type { Place, Write } from '../store/joint-write.ts';

/** The stored key does not open; the message says what to do. */
export class RecordingKeyLost extends Error {
  override readonly name = 'RecordingKeyLost';
}

const DATA_KEY_BYTES = 32;

interface KeyRow {
  callUuid: string;
  epoch: number;
  workspaceId: string;
  keySealed: Buffer | null;
}

const KEY_COLUMNS = 'call_uuid AS "callUuid", epoch, workspace_id AS "workspaceId", key_sealed AS "keySealed"';

/** For the transaction of the claim. `keyHex`: 64 hexadecimal digits. */
export function newRecordingKey(
  sealer: Sealer,
  stream: { callUuid: string; epoch: number; workspaceId: string },
): { keyHex: string; write: Write } {
  const keyHex = randomBytes(DATA_KEY_BYTES).toString('hex');
  const sealed = sealer.seal(keyHex, sealedPlace.recordingKey(stream));
  const values = [stream.callUuid, stream.epoch, stream.workspaceId, sealed];
  const write = {
    sql: (place: Place) =>
      `INSERT INTO call_recordings (call_uuid, epoch, workspace_id, key_sealed) VALUES (${values.map(place).join(', ')})`,
  };
  return { keyHex, write };
}

/** Throws `RecordingKeyLost`. */
export function openRecordingKey(sealer: Pick<Sealer, 'open'>, row: KeyRow): Buffer {
  return openDataKey(sealer, row.keySealed, sealedPlace.recordingKey(row));
}

/** Of a recording or a clip. Throws `RecordingKeyLost`. */
export function openDataKey(sealer: Pick<Sealer, 'open'>, keySealed: Buffer | null, place: SealedPlace): Buffer {
  try {
    return Buffer.from(sealer.open(keySealed ?? Buffer.alloc(0), place), 'hex');
  } catch {
    throw new RecordingKeyLost(
      'The key of this recording was sealed under another PARLEY_MASTER_KEY. Start with the master key that the recording was made under (master.key in the data folder, or your secret store); without it the recording cannot be read by anybody.',
    );
  }
}

/** What media is told of a recording that an earlier run of it left behind. Rejects when the database is away. */
export async function dispositionOfRecording(
  database: Queryable,
  sealer: Sealer,
  { callUuid, epoch }: { callUuid: string; epoch: number },
): Promise<RecordingDisposition> {
  const [row] = await database.query<KeyRow & { state: string }>(
    `SELECT state, ${KEY_COLUMNS} FROM call_recordings WHERE call_uuid = $1 AND epoch = $2`,
    [callUuid, epoch],
  );
  if (row === undefined) return { kind: 'unknown', why: 'the database knows no such recording' };
  if (row.keySealed === null || row.state === 'stored') return { kind: 'settled' };
  try {
    return { kind: 'open', keyHex: openRecordingKey(sealer, row).toString('hex') };
  } catch (error) {
    return { kind: 'unknown', why: (error as Error).message };
  }
}

/** At start: throws one sentence for the operator when the newest recording was made under another master key. */
export async function assertKeysOpen(database: Queryable, sealer: Sealer): Promise<void> {
  const [row] = await database.query<KeyRow>(
    `SELECT ${KEY_COLUMNS} FROM call_recordings WHERE key_sealed IS NOT NULL ORDER BY created_at DESC LIMIT 1`,
  );
  if (row === undefined) return;
  try {
    openRecordingKey(sealer, row);
  } catch {
    throw new Error(
      'PARLEY_MASTER_KEY is not the key that the recordings in this database were made under: none of them could be played, and new ones would be under another key. Start with the former key. If it is lost for good, remove what cannot be read any more with `parley recording erase --unreadable`, and start again.',
    );
  }
}
