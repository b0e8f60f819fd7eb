/**
 * Everything about stored recordings put together, for control and the command line: stores,
 * reading, other forms, erasure, figures.
 */
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import { counter, gauge, type MetricFamily } from '../../media/contract/metrics.ts';
import type { StoreSettings } from '../config/recording-settings.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Database } from '../store/database.ts';
import { createRecordingEraser, type RecordingEraser } from './erase-recordings.ts';
import { openStores, type Stores } from './open-stores.ts';
import type { UploadFigures } from './recording-uploader.ts';
import { createRenditions, type Render } from './renditions.ts';
import { createSoundFiles, type SoundFiles } from './sound-files.ts';

export interface Recordings {
  stores: Stores;
  sounds: SoundFiles;
  eraser: RecordingEraser;
  close(): Promise<void>;
}

export interface RecordingsDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  sealer: Sealer;
  settings: StoreSettings;
  /** Absolute. */
  dataDir: string;
  render: Render;
}

export function openRecordings(deps: RecordingsDeps): Recordings {
  const stores = openStores(deps.settings, deps.dataDir);
  const renditions = createRenditions({ ...deps, folder: join(deps.dataDir, 'recordings', 'forms') });
  return {
    stores,
    sounds: createSoundFiles({ ...deps, stores, renditions }),
    eraser: createRecordingEraser({ ...deps, stores, renditions }),
    close: () => stores.close(),
  };
}

/** For `/metrics`. */
export async function recordingFamilies(
  database: Pick<Database, 'query'>,
  uploader: Readonly<UploadFigures>,
  purge: Readonly<{ removedParts: number; putOff: number; failed: number }>,
): Promise<MetricFamily[]> {
  const [row] = await database.query<{ spooled: number; oldest: number | null; erasing: number }>(
    `SELECT count(*) FILTER (WHERE state = 'spooled')::int AS spooled,
            count(*) FILTER (WHERE state = 'erased')::int AS erasing,
            extract(epoch FROM now() - min(created_at) FILTER (WHERE state = 'spooled'))::float AS oldest
       FROM call_recordings WHERE next_at IS NOT NULL`,
  );
  return [
    gauge('parley_recordings_spooled', 'Finished recordings that wait for their store', row?.spooled ?? 0),
    gauge('parley_recordings_spooled_oldest_seconds', 'Age of the oldest recording that waits', row?.oldest ?? 0),
    gauge(
      'parley_recordings_erasing',
      'Erased recordings whose sealed bytes are still to be removed',
      row?.erasing ?? 0,
    ),
    counter('parley_recordings_stored_total', 'Recordings stored and verified', uploader.stored),
    counter(
      'parley_recordings_lost_total',
      'Recordings that were damaged or gone before they were stored',
      uploader.failed,
    ),
    counter('parley_recording_store_retries_total', 'Attempts that the store did not take', uploader.retries),
    counter('parley_retention_removed_total', 'Kinds of calls removed after their days', purge.removedParts),
    counter('parley_retention_failed_total', 'Kinds of calls that could not be removed', purge.failed),
    counter('parley_retention_put_off_total', 'Purges put off because the wall clock was set', purge.putOff),
  ];
}
