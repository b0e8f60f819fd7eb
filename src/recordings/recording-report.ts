/**
 * What media says of a stream's recording, written down: it lies finished on this node's disk, or it failed. From here
 * the uploader takes it to the store; `recording.ready` waits for that. Called in the transaction of the message, on
 * the locked call; may come twice. The caller settles the call's recording after it (`settle-recording.ts`).
 */
import type { RecordingFacts } from '../../media/contract/conversation.ts';
import { changeRecording, type RecordedCall } from './recorded-call.ts';
import type { RecordingRow } from './recording-rows.ts';
import { partFailed } from './settle-recording.ts';

export interface RecordingReport {
  epoch: number;
  recording: RecordingFacts | null;
  error: string | null;
}

export interface AfterReport {
  /** What there is for the uploader; null: nothing. */
  upload: RecordingRow | null;
  /** The file at this path is to go; null: none. */
  superfluous: string | null;
}

/** Adds it to the call's change. `node` names the disk that the file lies on; `dueAt`: when the uploader is to look. */
export async function addRecordingReport(
  { change, recordings }: Pick<RecordedCall, 'change' | 'recordings'>,
  report: RecordingReport,
  at: { node: string; nowEpochMs: number; dueAt: Date },
): Promise<AfterReport> {
  const { epoch, recording, error } = report;
  const rows = await recordings();
  const row = rows.find((one) => one.epoch === epoch);
  if (row === undefined || row.state === 'erased' || row.state === 'stored') {
    return { upload: null, superfluous: recording?.path ?? null };
  }
  if (row.state === 'spooled') return { upload: row, superfluous: null };
  if (recording === null) {
    changeRecording(change, row, { state: 'failed', nextAt: null, lastError: error });
    partFailed(change, rows, { epoch, error, nowEpochMs: at.nowEpochMs });
    return { upload: null, superfluous: null };
  }
  const { path, ...facts } = recording;
  changeRecording(change, row, {
    state: 'spooled',
    facts,
    spoolNode: at.node,
    spoolPath: path,
    attempts: 0,
    nextAt: at.dueAt,
    lastError: null,
  });
  const { recordingStatus } = change.call;
  if (recordingStatus === 'failed' || recordingStatus === 'none') change.set({ recordingStatus: 'pending' });
  return { upload: row, superfluous: null };
}
