import { describe, expect, test } from 'vitest';
import { lateSince, type SendCounts } from '../../../../bench/calls/send-lateness.ts';
import { CallTally, inTimeRatioOf } from '../../../../bench/calls/tally.ts';

const MESSAGE_BYTES = new Map([1, 3].map((frames) => [frames, messageOf(frames * 160)]));

function messageOf(audioBytes: number): Buffer {
  return Buffer.from(`{"event":"playAudio","media":{"payload":"${Buffer.alloc(audioBytes).toString('base64')}"}}`);
}

/** Messages of so many frames, one each `everyMs`, for 10 s, each off its time by `jitterMs(i)`. */
function hear(frames: 1 | 3, everyMs: number, jitterMs: (i: number) => number = () => 0): CallTally {
  const tally = new CallTally(10_000);
  tally.isMeasuring = true;
  const message = MESSAGE_BYTES.get(frames)!;
  for (let i = 0; i * everyMs < 10_000; i++) tally.receive(message, 0, message.length, 500 + i * everyMs + jitterMs(i));
  return tally;
}

test('in time is what came, without what was late, and never more than real time', () => {
  expect(inTimeRatioOf(1, [0, 1, 20, 20.1])).toBe(0.75);
  expect(inTimeRatioOf(0.98, [0, 0])).toBe(0.98);
  expect(inTimeRatioOf(1.01, [0, 0])).toBe(1);
  expect(inTimeRatioOf(0, [])).toBe(0);
});

describe('what the load generator hears', () => {
  test.each([
    [1, 20],
    [3, 60],
  ] as const)('%i frames each %i ms are real time within 0.01 %%, also with 5 ms of jitter', (frames, everyMs) => {
    expect(Math.abs(hear(frames, everyMs).sampleRatio - 1)).toBeLessThan(1e-9);
    expect(Math.abs(hear(frames, everyMs, (i) => (i * 7) % 6).sampleRatio - 1)).toBeLessThan(1e-4);
  });

  test('a timer that drifts by 2 % plays 98 % of real time', () => {
    expect(hear(1, 20 / 0.98).sampleRatio).toBeCloseTo(0.98, 3);
  });

  test('one message in fifty that comes 20 ms late is seen as 20 ms, the others as 0', () => {
    const late: number[] = [];
    hear(1, 20, (i) => (i % 50 === 20 ? 20 : 0)).lateness(late);
    expect(late.length).toBe(500);
    expect(late.filter((ms) => Math.abs(ms - 20) < 1e-6).length).toBe(10);
    expect(late.filter((ms) => Math.abs(ms) < 1e-6).length).toBe(490);
  });

  test('the share of frames that went out within 5 ms is that of the window, not of the whole run', () => {
    const counts = (upTo5: number, all: number): SendCounts => [
      { boundMs: 2, upTo: upTo5 / 2 },
      { boundMs: 5, upTo: upTo5 },
      { boundMs: Number.POSITIVE_INFINITY, upTo: all },
    ];
    const late = lateSince(counts(100, 200), counts(1090, 1200));
    expect(late).toMatchObject({ frames: 1000, within5MsRatio: 0.99, p99Ms: 5 });
    expect(lateSince(null, counts(1, 1))).toBeNull();
  });
});
