/**
 * What the recording of a whole call is to be, of what its streams have left: one stream's own, or several joined, each
 * at its place on the call's time line. The line begins with the first stream, as the transcript's times do, and ends
 * with the call; it is no longer than the call may have been, whatever a wall clock that was set in the middle of it
 * makes of the times. Pure.
 */
import type { CallRow } from '../calls/call-row.ts';
import { type RecordingRow, WHOLE_EPOCH } from './recording-rows.ts';

export type Outlook =
  /** A part is still being recorded, finished or stored. */
  | { kind: 'waiting' }
  /** No part was saved, or none was ever begun. */
  | { kind: 'nothing' }
  /** One stream, from beginning to end. */
  | { kind: 'single'; row: RecordingRow }
  | { kind: 'joined'; plan: JoinPlan };

export interface JoinPlan {
  totalMs: number;
  /** By their beginning. */
  parts: { row: RecordingRow; startMs: number }[];
  /** The sound of a stream is lost: there is silence in its place. */
  isIncomplete: boolean;
}

/** A stream that was lost so shortly before its call's end needs no silence behind it. */
const NO_TAIL_MS = 1000;
/** To what the call might last: until its end is seen and written down. */
const BEYOND_LIMIT_MS = 60_000;

type CallTimes = Pick<CallRow, 'endedAt' | 'mediaStoppedAt' | 'maxDurationSeconds'>;

/** The call is over. */
export function outlookOf(call: CallTimes, rows: readonly RecordingRow[]): Outlook {
  // Of a stream that never began nothing is to come, though its process died before it could say so; what comes all the
  // same is joined in.
  const parts = partsOf(rows).filter(
    ({ state, streamStartedAt }) => streamStartedAt !== null || (state !== 'failed' && state !== 'recording'),
  );
  if (parts.some(isToCome)) return { kind: 'waiting' };
  const stored = parts.filter(({ state }) => state === 'stored');
  const [first] = stored;
  if (first === undefined) return { kind: 'nothing' };
  const plan = planOf(call, parts);
  // Its process died, and had no last word.
  const wasLost = call.mediaStoppedAt === null;
  const tailMs = plan.totalMs - lengthMs(first);
  // A whole that was begun before its process had its last word after all is finished: the call waits for it.
  const isOne = parts.length === 1 && wholeOf(rows) === undefined;
  if (isOne && (!wasLost || tailMs <= NO_TAIL_MS)) return { kind: 'single', row: first };
  return { kind: 'joined', plan };
}

/** Of a part: it is being recorded, or on its way to the store. Of a stream that never began nothing is. */
export function isToCome({ state, streamStartedAt }: Pick<RecordingRow, 'state' | 'streamStartedAt'>): boolean {
  return state === 'spooled' || (state === 'recording' && streamStartedAt !== null);
}

/** Of the streams, without the whole. */
export function partsOf(rows: readonly RecordingRow[]): RecordingRow[] {
  return rows.filter(({ epoch }) => epoch !== WHOLE_EPOCH);
}

export function wholeOf(rows: readonly RecordingRow[]): RecordingRow | undefined {
  return rows.find(({ epoch }) => epoch === WHOLE_EPOCH);
}

function planOf({ endedAt, maxDurationSeconds }: CallTimes, begun: readonly RecordingRow[]): JoinPlan {
  const originMs = Math.min(...begun.map(beganAtMs));
  const stored = begun.filter(({ state }) => state === 'stored');
  const limitMs = Math.max(maxDurationSeconds * 1000 + BEYOND_LIMIT_MS, ...stored.map(lengthMs));
  const parts = stored
    .map((row) => ({ row, startMs: Math.min(beganAtMs(row) - originMs, limitMs - lengthMs(row)) }))
    .sort((a, b) => a.startMs - b.startMs);
  const ends = parts.map(({ row, startMs }) => startMs + lengthMs(row));
  return {
    totalMs: Math.min(limitMs, Math.max((endedAt?.getTime() ?? originMs) - originMs, ...ends)),
    parts,
    isIncomplete: begun.some(({ state }) => state === 'failed'),
  };
}

function lengthMs({ facts }: RecordingRow): number {
  return facts?.durationMs ?? 0;
}

function beganAtMs({ streamStartedAt, createdAt }: RecordingRow): number {
  return (streamStartedAt ?? createdAt).getTime();
}
