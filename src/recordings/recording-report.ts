/**
 * What media says of a stream's recording, written down: it lies finished on this node's disk, or it failed. From here
 * the uploader takes it to the store; `recording.ready` waits for that. Called in the transaction of the message, on
 * the locked call; may come twice. The caller settles the call's recording after it (`settle-recording.ts`).
 */
import type { RecordingFacts } from '../../media/contract/conversation.ts';
import type { CallEvent } from '../calls/call-event-bus.ts';
import { type CallRow, patchCall } from '../calls/call-row.ts';
import type { Queryable } from '../store/database.ts';
import { lockRecordings, patchRecording } from './recording-rows.ts';
import { partFailed } from './settle-recording.ts';

export interface RecordingReport {
  epoch: number;
  recording: RecordingFacts | null;
  error: string | null;
}

export interface WrittenReport {
  events: CallEvent[];
  /** `upload`: there is something for the uploader. `superfluous`: the file at this path is to go. */
  next: { upload: boolean; superfluous: string | null };
}

/** `node` names the disk that the file lies on. */
export async function writeRecordingReport(
  tx: Queryable,
  call: CallRow,
  report: RecordingReport,
  at: { node: string; nowEpochMs: number },
): Promise<WrittenReport> {
  const { epoch, recording, error } = report;
  const rows = await lockRecordings(tx, call.callUuid);
  const row = rows.find((one) => one.epoch === epoch);
  const nothing = { events: [], next: { upload: false, superfluous: null } };
  if (row === undefined || row.state === 'erased' || row.state === 'stored') {
    return { ...nothing, next: { upload: false, superfluous: recording?.path ?? null } };
  }
  if (row.state === 'spooled') return { ...nothing, next: { upload: true, superfluous: null } };
  if (recording === null) {
    await patchRecording(tx, row, { state: 'failed', nextAt: null, lastError: error });
    return { ...nothing, events: await partFailed(tx, call, { epoch, error, nowEpochMs: at.nowEpochMs }) };
  }
  const { path, ...facts } = recording;
  await patchRecording(tx, row, {
    state: 'spooled',
    facts,
    spoolNode: at.node,
    spoolPath: path,
    attempts: 0,
    nextAt: new Date(at.nowEpochMs),
    lastError: null,
  });
  if (call.recordingStatus === 'failed' || call.recordingStatus === 'none') {
    await patchCall(tx, call.callUuid, { recordingStatus: 'pending' });
    call.recordingStatus = 'pending';
  }
  return { events: [], next: { upload: true, superfluous: null } };
}
