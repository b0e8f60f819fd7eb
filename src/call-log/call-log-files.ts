/**
 * Where the recordings of a call lie, sealed. For whoever runs the service (command line);
 * never in an answer of the API.
 */
import { readRecordings } from '../recordings/recording-rows.ts';
import type { Queryable } from '../store/database.ts';

/**
 * One for each stream of the call, in order, like `disk 2026/11/21/<callUuid>/1.sealed`. Empty:
 * no recording, or none yet.
 */
export async function recordingPlaces(database: Queryable, callUuid: string): Promise<string[]> {
  const rows = await readRecordings(database, callUuid);
  return rows.flatMap(({ state, store, objectKey, spoolPath }) => {
    if (state === 'stored') return [`${store} ${objectKey}`];
    return state === 'spooled' ? [`waits on this disk for its store: ${spoolPath}`] : [];
  });
}
