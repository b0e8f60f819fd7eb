/**
 * How long the recording of a call may get, and where its parts go, when the wall clock was set in the middle of it.
 */
import { describe, expect, it } from 'vitest';
import type { RecordingRow } from '../../../src/recordings/recording-rows.ts';
import { outlookOf } from '../../../src/recordings/whole-recording.ts';

const BEGAN_MS = Date.UTC(2026, 10, 22, 10);
const DAY_MS = 86_400_000;
const LIMIT_MS = 30 * 60_000 + 60_000;

function part(epoch: number, beganAtMs: number, durationMs: number): RecordingRow {
  const streamStartedAt = new Date(beganAtMs);
  return { epoch, state: 'stored', streamStartedAt, createdAt: streamStartedAt, facts: { durationMs } } as RecordingRow;
}

function planOf(endedAtMs: number, rows: RecordingRow[], maxDurationSeconds = 1800) {
  const outlook = outlookOf({ endedAt: new Date(endedAtMs), mediaStoppedAt: null, maxDurationSeconds }, rows);
  if (outlook.kind !== 'joined') throw new Error(outlook.kind);
  const { totalMs, parts } = outlook.plan;
  return { totalMs, parts: parts.map(({ row, startMs }) => [row.epoch, startMs]) };
}

describe('the time line of a call', () => {
  it('ends with the call', () => {
    const rows = [part(1, BEGAN_MS, 3000), part(2, BEGAN_MS + 7000, 4000)];
    expect(planOf(BEGAN_MS + 12_000, rows)).toEqual({
      totalMs: 12_000,
      parts: [
        [1, 0],
        [2, 7000],
      ],
    });
  });

  it('is no longer than the call may last and a minute, though the clock was set two days on under its only stream', () => {
    expect(planOf(BEGAN_MS + 2 * DAY_MS, [part(1, BEGAN_MS, 3000)])).toEqual({ totalMs: LIMIT_MS, parts: [[1, 0]] });
  });

  it('holds all of a part that begins days after the first, or before it', () => {
    const on = [part(1, BEGAN_MS, 3000), part(2, BEGAN_MS + 2 * DAY_MS, 4000)];
    const last = LIMIT_MS - 4000;
    expect(planOf(BEGAN_MS + 2 * DAY_MS + 4000, on)).toEqual({
      totalMs: LIMIT_MS,
      parts: [
        [1, 0],
        [2, last],
      ],
    });
    const back = [part(1, BEGAN_MS, 4000), part(2, BEGAN_MS - 2 * DAY_MS, 3000)];
    expect(planOf(BEGAN_MS - 2 * DAY_MS + 3000, back)).toEqual({
      totalMs: LIMIT_MS,
      parts: [
        [2, 0],
        [1, last],
      ],
    });
  });

  it('cuts nothing of a part that is longer than its call might last', () => {
    const rows = [part(1, BEGAN_MS, 200_000), part(2, BEGAN_MS + 1000, 2000)];
    expect(planOf(BEGAN_MS + 200_000, rows, 60).totalMs).toBe(200_000);
  });
});
