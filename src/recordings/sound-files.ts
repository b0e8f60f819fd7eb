/**
 * A recording as bytes to hand out, in any form and any range, decrypted piece by piece. Called by the API and the
 * command line; whoever calls has checked that the asker may have it. Nothing plain is written anywhere.
 */
import { open, stat } from 'node:fs/promises';
import { EncryptedFileReader, type ReadRange } from '../../media/files/encrypted-file-reader.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Database } from '../store/database.ts';
import type { Stores } from './open-stores.ts';
import { openRecordingKey } from './recording-keys.ts';
import type { RecordingTarget } from './recording-links.ts';
import { type RecordingRow, readRecordings } from './recording-rows.ts';
import type { Renditions } from './renditions.ts';
import { CONTENT_TYPES, isStored } from './sound-form.ts';
import { isToCome, partsOf, wholeOf } from './whole-recording.ts';

export interface SoundFile {
  contentType: string;
  sizeBytes: number;
  /** Of the whole file; null for a form that was made when asked for. */
  sha256: string | null;
  /**
   * Bytes `[start, end)`. Rejects with `EncryptedFileBroken` where it is damaged, `StoreFault` when the store is away.
   */
  range(start: number, end: number): AsyncGenerator<Buffer, void, undefined>;
  /** Idempotent. */
  close(): Promise<void>;
}

export interface SoundFilesDeps {
  database: Database;
  sealer: Sealer;
  stores: Stores;
  renditions: Renditions;
}

export interface SoundFiles {
  /**
   * Null: there is none (yet, or any more). Rejects with `RecordingKeyLost`,
   * `EncryptedFileBroken`, `StoreFault` or `RenderingBusy`.
   */
  open(target: RecordingTarget): Promise<SoundFile | null>;
}

export function createSoundFiles({ database, sealer, stores, renditions }: SoundFilesDeps): SoundFiles {
  async function storedRow({ callUuid, part }: RecordingTarget): Promise<RecordingRow | null> {
    const rows = await readRecordings(database, callUuid);
    const parts = partsOf(rows);
    const stored = parts.filter(({ state }) => state === 'stored');
    if (part !== null) return stored[part - 1] ?? null;
    const whole = wholeOf(rows);
    if (whole !== undefined) return whole.state === 'stored' ? whole : null;
    // Of one stream; or of a call of a version that joined nothing. While another one is to come there is no whole.
    return parts.some(isToCome) ? null : (stored[0] ?? null);
  }

  function storedRange(row: RecordingRow): ReadRange {
    const store = stores.of(row.store);
    return (start, end) => store.read(row.objectKey ?? '', start, end);
  }

  async function openForm(row: RecordingRow, target: RecordingTarget, dataKey: Buffer): Promise<SoundFile> {
    const path = await renditions.obtain({
      callUuid: row.callUuid,
      epoch: row.epoch,
      sha256: row.facts?.sha256 ?? '',
      form: target,
      dataKey,
      source: () => storedRange(row)(0, row.encryptedBytes ?? 0),
    });
    const { size } = await stat(path);
    const file = await open(path, 'r');
    try {
      const encrypted = await EncryptedFileReader.open(dataKey, size, async (start, end) => {
        const bytes = new Uint8Array(end - start);
        return bytes.subarray(0, (await file.read(bytes, 0, bytes.length, start)).bytesRead);
      });
      return {
        contentType: CONTENT_TYPES[target.format],
        sizeBytes: encrypted.plainBytes,
        sha256: null,
        range: (start, end) => encrypted.range(start, end),
        close: () => file.close(),
      };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  return {
    async open(target) {
      const row = await storedRow(target);
      if (row === null || row.keySealed === null) return null;
      const dataKey = openRecordingKey(sealer, row);
      if (!isStored(target)) {
        const made = await openForm(row, target, dataKey);
        // Erased while it was being made: what was made must not outlive it.
        if ((await storedRow(target)) !== null) return made;
        await made.close();
        await renditions.forget(row.callUuid);
        return null;
      }
      const encrypted = await EncryptedFileReader.open(dataKey, row.encryptedBytes ?? 0, storedRange(row));
      return {
        contentType: CONTENT_TYPES[target.format],
        sizeBytes: encrypted.plainBytes,
        sha256: row.facts?.sha256 ?? null,
        range: (start, end) => encrypted.range(start, end),
        close: async () => {},
      };
    },
  };
}
