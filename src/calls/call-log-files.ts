/** Where the recordings of a call lie. For whoever runs the service (command line, demo); never in an answer of the API. */
import type { Queryable } from '../store/database.ts';
import type { StreamRecording } from './call-record.ts';

/** Absolute paths, one for each stream of the call, in order. Empty: no recording, or none yet. */
export async function recordingFiles(database: Queryable, callUuid: string): Promise<string[]> {
  const [row] = await database.query<{ recordings: StreamRecording[] }>(
    'SELECT recordings FROM calls WHERE call_uuid = $1',
    [callUuid],
  );
  return (row?.recordings ?? []).map((recording) => recording.path);
}
