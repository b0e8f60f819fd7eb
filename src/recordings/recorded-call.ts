/**
 * A locked call in its transaction, with what an end or a recording may have to know of it: its turns and the rows of
 * its recordings, each read when it is first asked for, and once. Made by whoever changes a call's recording.
 */
import type { Turn } from '../../media/contract/conversation.ts';
import { CallChange } from '../calls/call-change.ts';
import { lockCall } from '../calls/call-row.ts';
import { readTurns } from '../calls/call-turns.ts';
import type { Queryable } from '../store/database.ts';
import { lockRecordings, type RecordingPatch, type RecordingRow, recordingPatch } from './recording-rows.ts';

export interface RecordedCall {
  change: CallChange;
  turns(): Promise<Turn[]>;
  /** By epoch, locked, and as they will stand. */
  recordings(): Promise<RecordingRow[]>;
}

/** Undefined: there is no such call. */
export async function lockRecorded(tx: Queryable, callUuid: string): Promise<RecordedCall | undefined> {
  const call = await lockCall(tx, callUuid);
  return call === undefined ? undefined : recordedCall(tx, new CallChange(call));
}

export function recordedCall(tx: Queryable, change: CallChange): RecordedCall {
  const { callUuid } = change.call;
  return {
    change,
    turns: once(() => readTurns(tx, callUuid)),
    recordings: once(() => lockRecordings(tx, callUuid)),
  };
}

/** `row` is one of `recordings`, and changed with what is stored. Once a row between two writes of the change. */
export function changeRecording(change: CallChange, row: RecordingRow, patch: RecordingPatch): void {
  change.also(recordingPatch(row, patch));
  Object.assign(row, patch);
}

function once<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let value: Promise<Value> | null = null;
  return () => {
    value ??= read();
    return value;
  };
}
