/**
 * The stores of an installation: the one that new recordings go to, and those that older ones lie in. Opened by control
 * and the command line.
 */
import { join } from 'node:path';
import type { StoreSettings } from '../config/recording-settings.ts';
import { createDiskStore } from './disk-store.ts';
import { type RecordingStore, StoreFault, type StoreKind } from './recording-store.ts';
import { createS3Store } from './s3-store.ts';

export interface Stores {
  /** For new recordings. */
  current: RecordingStore;
  /** Throws a `StoreFault` for one that is not set up any more. */
  of(kind: StoreKind | null): RecordingStore;
  close(): Promise<void>;
}

/** `dataDir` is absolute. */
export function openStores(settings: StoreSettings, dataDir: string): Stores {
  const disk = createDiskStore(join(dataDir, 'recordings', 'store'));
  const s3 = settings.s3 === null ? null : createS3Store(settings.s3);
  const of = (kind: StoreKind | null): RecordingStore => {
    const found = kind === 's3' ? s3 : disk;
    if (found !== null) return found;
    throw new StoreFault(
      'this recording lies in an object store that is not set up any more; set RECORDING_S3_BUCKET and the other RECORDING_S3_ settings again',
    );
  };
  return {
    current: of(settings.kind),
    of,
    async close() {
      await disk.close();
      await s3?.close();
    },
  };
}
