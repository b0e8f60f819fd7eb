/**
 * The recordings' store: can it be reached, written to and read from with these settings, and
 * is anything waiting for it?
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StoreSettings } from '../config/recording-settings.ts';
import { openStores } from '../recordings/open-stores.ts';
import type { Queryable } from '../store/database.ts';
import { type CheckResult, fail, ok, warn } from './check.ts';
import type { DoctorSettings } from './doctor-settings.ts';

/** Writes, reads and removes one small object; none where the running service has another store than this command. */
export async function checkRecordingStore(
  { settings, faults }: { settings: StoreSettings; faults: readonly string[] },
  { dataDir, recordingStore }: Pick<DoctorSettings, 'dataDir' | 'recordingStore'>,
): Promise<CheckResult[]> {
  if (faults.length > 0) {
    const detail = faults.map((fault) => fault.trim()).join('; ');
    return [fail('recording store', detail, 'Correct the environment; the service does not start with it.')];
  }
  if (recordingStore !== null && recordingStore !== settings.kind) {
    const detail = `not tried: the running service stores in ${recordingStore}, this command would in ${settings.kind}`;
    return [warn('recording store', detail, 'Give this command RECORDING_STORE and RECORDING_S3_… of the service.')];
  }
  const stores = openStores(settings, dataDir);
  const { current } = stores;
  // In the data folder: it may be the only one that can be written.
  mkdirSync(dataDir, { recursive: true });
  const folder = mkdtempSync(join(dataDir, 'doctor-'));
  const key = `doctor/${randomUUID()}`;
  try {
    const text = 'parley doctor';
    writeFileSync(join(folder, 'probe'), text);
    await current.put(key, join(folder, 'probe'));
    const back = Buffer.from(await current.read(key, 0, text.length)).toString();
    if (back !== text) throw new Error(`${current.place} gave back something else than was put`);
    return [ok('recording store', `${current.kind}: ${current.place} takes, gives and removes`)];
  } catch (error) {
    const way = 'Until it works recordings wait on the disk of the service; nothing is lost.';
    return [fail('recording store', error instanceof Error ? error.message : String(error), way)];
  } finally {
    await current.remove(key).catch(() => false);
    await stores.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function checkWaitingRecordings(database: Queryable): Promise<CheckResult[]> {
  const [row] = await database.query<{ waiting: number; error: string | null }>(
    `SELECT count(*)::int AS waiting, max(last_error) AS error FROM call_recordings WHERE state = 'spooled' AND attempts > 0`,
  );
  if (row === undefined || row.waiting === 0) return [ok('recordings', 'none waits for its store')];
  return [
    warn(
      'recordings',
      `${row.waiting} wait on a disk for their store: ${row.error}`,
      'They go by themselves when it works again.',
    ),
  ];
}
