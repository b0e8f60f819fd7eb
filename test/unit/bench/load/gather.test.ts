/** From measured calls to a result: what is counted where, and what is not. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MeasuredCall } from '../../../../bench/load/contract/measured-call.ts';
import type { RunResult } from '../../../../bench/load/contract/run-result.ts';
import type { WorkloadInput } from '../../../../bench/load/contract/workload.ts';
import { createGatherer, type RunEnd } from '../../../../bench/load/result/gather.ts';
import { createTimes } from '../../../../bench/load/result/times.ts';
import { endOf, plainCall, workloadOf } from '../../../support/load-runs/make-run.ts';
import { writeStereo, writeTalk } from '../../../support/load-runs/sound-file.ts';

function gathered(calls: MeasuredCall[], workload: Partial<WorkloadInput> = {}, end: Partial<RunEnd> = {}): RunResult {
  const gatherer = createGatherer({ workload: workloadOf(workload) });
  for (const call of calls) gatherer.add(call);
  return gatherer.finish(endOf(end));
}

const heard = (changes: Partial<NonNullable<MeasuredCall['sound']>> = {}): MeasuredCall['sound'] => ({
  ...{ frames: 3_000, audioMs: 60_000, streamedMs: 60_000, lateMs: [3_000], gaps: [], lostMs: null, repeatedMs: null },
  ...changes,
});
const talked = (index: number, changes: Partial<MeasuredCall> = {}): MeasuredCall =>
  plainCall(index, index * 1_000, {
    ...{ answeredAtMs: index * 1_000, endedAtMs: index * 1_000 + 60_000, sound: heard() },
    ...changes,
  });

describe('the calls', () => {
  it('are counted by fate and code, and what went wrong is a share of all that were begun', () => {
    const { calls, measures } = gathered([
      ...[0, 1, 2].map((index) => talked(index)),
      plainCall(3, 0, { fate: 'unanswered' }),
      plainCall(4, 0, { fate: 'refused', code: 'capacity_exhausted' }),
      plainCall(5, 0, { fate: 'refused', code: 'capacity_exhausted' }),
      plainCall(6, 0, { fate: 'failed', code: null }),
      plainCall(7, 0, { fate: 'lost', code: '__proto__', answeredAtMs: 0, endedAtMs: 0 }),
      plainCall(8, 0, { fate: 'held_back' }),
      plainCall(9, 0, { fate: 'cut' }),
    ]);
    expect(calls).toMatchObject({
      planned: 10,
      talked: 3,
      unanswered: 1,
      refused: 2,
      failed: 1,
      lost: 1,
      heldBack: 1,
      cut: 1,
    });
    expect(calls.refusedBy).toEqual({ capacity_exhausted: 2 });
    expect(calls.failedBy).toEqual({ 'no code': 1, '"__proto__"': 1 });
    expect(calls.talkMs).toBe(180_000);
    expect(measures.errorShare).toBe(4 / 9);
  });

  it('have no more codes than a table can show, however many the target invents', () => {
    const { calls } = gathered(
      Array.from({ length: 500 }, (_, index) =>
        plainCall(index, 0, { fate: 'refused', code: `${index}`.padEnd(100, '-') }),
      ),
    );
    expect(Object.keys(calls.refusedBy)).toHaveLength(41);
    expect(calls.refusedBy['other']).toBe(460);
    expect(Math.max(...Object.keys(calls.refusedBy).map((code) => code.length))).toBe(80);
  });

  it('of the warm-up are in the timeline and in nothing else', () => {
    const early = talked(0, { plannedAtMs: 1_999, begunAtMs: 1_999, firstWordMs: 9_000 });
    const { calls, measures, timeline, worst, warnings } = gathered([early, talked(3, { firstWordMs: 200 })], {
      warmUpSeconds: 2,
    });
    expect([calls.planned, measures.firstWordMs.count, measures.firstWordMs.max]).toEqual([1, 1, 200]);
    expect(timeline.reduce((sum, { begun }) => sum + begun, 0)).toBe(2);
    expect(worst.map(({ index }) => index)).toEqual([3]);
    expect(warnings).toEqual(['1 call of the first 2 s warmed up: in the timeline, not in the figures.']);
  });
});

describe('delays', () => {
  it('of a refusal are none, and of what never came neither', () => {
    const { measures } = gathered([
      talked(0, { placementMs: 40, dialledMs: 60, firstWordMs: 300, webhookMs: 20 }),
      plainCall(1, 0, { fate: 'refused', placementMs: 1, dialledMs: 2 }),
      talked(2),
    ]);
    const { placementMs, dialledMs, firstWordMs, webhookDelayMs } = measures;
    expect([placementMs, dialledMs, firstWordMs, webhookDelayMs].map(({ count, max }) => [count, max])).toEqual([
      ...[
        [1, 40],
        [1, 60],
        [1, 300],
        [1, 20],
      ],
    ]);
    expect(measures.replyMs).toMatchObject({ count: 0, p50: null, buckets: [] });
  });

  it('count calls that were held back with the least that they would have waited', () => {
    const calls = [
      talked(0, { placementMs: 10, dialledMs: 10 }),
      talked(1, { placementMs: 10, dialledMs: 10 }),
      // Room is made at 60 s and at 61 s, and for the third never: the run ends at 91.3 s.
      ...[50_000, 58_000, 59_000].map((plannedAtMs, at) => plainCall(2 + at, plannedAtMs, { fate: 'held_back' })),
    ];
    const { measures, calls: counts } = gathered(calls);
    expect(measures.placementMs).toMatchObject({ count: 5, max: 32_300 });
    const above = (ms: number): number => measures.placementMs.buckets.filter(([upTo]) => upTo > ms).length;
    expect([above(2_900), above(9_900), above(32_000)]).toEqual([3, 2, 1]);
    expect(measures.firstWordMs.count).toBe(0);
    expect(counts.heldBack).toBe(3);
  });

  it('of calls held back are none where the target has no placement', () => {
    const { measures } = gathered([talked(0), plainCall(1, 0, { fate: 'held_back' })]);
    expect([measures.placementMs.count, measures.dialledMs.count]).toEqual([0, 0]);
  });

  it('are the same when they are asked for again, as they are for a partial result', () => {
    const gatherer = createGatherer({ workload: workloadOf() });
    gatherer.add(talked(0, { placementMs: 10 }));
    gatherer.add(plainCall(1, 5, { fate: 'held_back' }));
    expect(gatherer.finish(endOf())).toEqual(gatherer.finish(endOf()));
  });
});

describe('sound', () => {
  it('has gaps for each minute of a call, interruptions that stopped the target, and shares of real time', () => {
    const { measures } = gathered([
      talked(0, {
        sound: heard({ gaps: [{ atMs: 5, gapMs: 40 }], lateMs: [90, 9, 1], streamedMs: 80_000 }),
        bargeIns: [
          { atMs: 1, stoppedAfterMs: 250 },
          { atMs: 2, stoppedAfterMs: null },
        ],
        unanswered: 2,
      }),
      talked(1),
    ]);
    expect(measures).toMatchObject({ gapsPerCallMinute: 0.5, bargeIns: 2, bargeInsThatStopped: 1, turnsUnanswered: 2 });
    expect(measures.bargeInStopMs.count).toBe(1);
    expect(measures.frameLatenessMs).toMatchObject({ count: 3_100, p50: 0, max: 2 });
    expect(measures.realTimeShareWorst).toBe(0.75);
    expect(measures.realTimeShareMean).toBeCloseTo(120 / 140, 9);
    expect([measures.lostShare, measures.repeatedShare]).toEqual([null, null]);
  });

  it('is lost and repeated only where the target sends a known signal', () => {
    const { measures } = gathered([
      talked(0),
      talked(1, { sound: heard({ audioMs: 59_400, lostMs: 600, repeatedMs: 300 }) }),
    ]);
    expect(measures.lostShare).toBeCloseTo(0.01, 9);
    expect(measures.repeatedShare).toBeCloseTo(0.005, 9);
  });
});

describe('the timeline', () => {
  it('puts each thing into the second in which it happened, however late the call came', () => {
    const gatherer = createGatherer({ workload: workloadOf() });
    gatherer.tick({ atMs: 1_500, cpuCores: { media: 0.5 }, eventLoopDelayP99Ms: 3, frameLateP99Ms: 7 });
    gatherer.add(
      plainCall(0, 100, {
        ...{ answeredAtMs: 900, endedAtMs: 3_100, firstWordMs: 250, replies: [{ atMs: 2_200, replyMs: 640 }] },
        sound: heard({ gaps: [{ atMs: 1_300, gapMs: 50 }] }),
      }),
    );
    gatherer.add(plainCall(1, 1_200, { fate: 'refused', endedAtMs: 1_210 }));
    gatherer.add(plainCall(2, 1_200, { fate: 'failed', begunAtMs: 2_500 }));
    const { timeline } = gatherer.finish(endOf());
    expect(timeline.map(({ begun, live, refused, failed, gaps }) => [begun, live, refused, failed, gaps])).toEqual([
      [1, 1, 0, 0, 0],
      [1, 1, 1, 0, 1],
      [1, 1, 0, 1, 0],
      [0, 1, 0, 0, 0],
    ]);
    expect(timeline.map(({ replyP95Ms }) => replyP95Ms)).toEqual([null, null, 640, null]);
    expect(timeline.map(({ firstWordP95Ms }) => firstWordP95Ms)).toEqual([250, null, null, null]);
    expect(timeline[1]).toMatchObject({ cpuCores: { media: 0.5 }, eventLoopDelayP99Ms: 3, frameLateP99Ms: 7 });
    expect(timeline[0]).toMatchObject({ cpuCores: {}, eventLoopDelayP99Ms: null, frameLateP99Ms: null });
  });

  it('counts calls at once by their instants: one that ends makes room for the next', () => {
    const call = (index: number, from: number, to: number): MeasuredCall =>
      plainCall(index, from, { answeredAtMs: from, endedAtMs: to });
    const { calls, timeline } = gathered([
      call(0, 0, 500),
      call(1, 500, 2_400),
      call(2, 700, 1_100),
      call(3, 1_500, 2_500),
    ]);
    expect(timeline.map(({ live }) => live)).toEqual([2, 2, 2]);
    expect(calls.mostAtOnce).toBe(2);
  });
});

describe('the tool', () => {
  const late = (ms: number) => {
    const times = createTimes();
    for (let i = 0; i < 100; i++) times.add(i < 95 ? 1 : ms);
    return times.distribution();
  };

  it('judges where it was neither late nor short of processor', () => {
    expect(gathered([talked(0)]).generator).toMatchObject({ judged: true, why: null });
  });

  it('does not judge, and says why, where it was', () => {
    const { generator } = gathered(
      [talked(0, { begunAtMs: 25 })],
      {},
      {
        generator: { limitMs: 10, frameLatenessMs: late(14), cpuShare: 0.92, alsoBecause: 'the machine was busy' },
      },
    );
    expect(generator.judged).toBe(false);
    expect(generator.why).toBe(
      'the tool began calls 25 ms late at p99 (limit 10 ms); the tool sent frames 14 ms late at p99 (limit 10 ms); one of its processes was busy for 92 % of a core (limit 85 %); the machine was busy',
    );
    expect(gathered([]).generator.why).toBe('no call was begun');
  });
});

describe('the calls that stand out', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-gather-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('are those that broke, failed by each code once, were not stopped, starved and waited longest, the gravest first', () => {
    const { worst } = gathered([
      ...[0, 1, 2, 3, 4].map((index) => talked(index, { replies: [{ atMs: 1, replyMs: 500 + index }] })),
      talked(5, { sound: heard({ gaps: [{ atMs: 5_100, gapMs: 90 }] }) }),
      talked(6, { bargeIns: [{ atMs: 6_100, stoppedAfterMs: null }] }),
      plainCall(7, 0, { fate: 'failed', code: 'ECONNREFUSED', why: 'Nobody listens.' }),
      plainCall(8, 0, { fate: 'failed', code: 'ECONNREFUSED' }),
      plainCall(9, 0, { fate: 'failed', code: 'ETIMEDOUT' }),
      talked(10, { fate: 'lost', code: '1006', why: 'The socket closed.' }),
    ]);
    expect(worst.map(({ index }) => index)).toEqual([10, 7, 9, 6, 5, 4, 3, 2]);
    expect(worst[0]!.why).toEqual(['It was answered, and its stream broke (1006): The socket closed.']);
    expect(worst[1]!.why).toEqual(['It failed (ECONNREFUSED): Nobody listens.']);
    expect(worst[4]!.marks).toEqual([{ atMs: 100, lengthMs: 90, kind: 'gap', text: 'gap 90 ms' }]);
    expect(worst[5]!.why).toEqual(['Its longest reply took 504 ms (half of all: 502 ms).']);
  });

  it('have the peaks of both sides and their sound', () => {
    const path = join(folder, 'short.wav');
    const [left, right] = [new Int16Array(8_000), new Int16Array(8_000)];
    left.fill(32_124, 0, 4_000);
    right.fill(-16_062, 4_000);
    writeStereo(path, left, right);
    const { waveform, soundBase64 } = gathered([talked(0, { firstWordMs: 9, recordingPath: path })]).worst[0]!;
    expect(waveform!.stepMs).toBe(20);
    expect(waveform!.left).toEqual([...new Array(25).fill(1), ...new Array(25).fill(0)]);
    expect(waveform!.right.slice(0, 25)).toEqual(new Array(25).fill(0));
    expect(waveform!.right.at(-1)).toBeCloseTo(0.5, 1);
    expect(Buffer.from(soundBase64!, 'base64')).toHaveLength(44 + 16_000);
  });

  it('of a long recording keep the stretch around what went wrong, and its marks move with it', () => {
    const path = join(folder, 'long.wav');
    writeTalk(path, { seconds: 120, seed: 3 });
    const gaps = [
      { atMs: 20_000, gapMs: 30 },
      { atMs: 90_000, gapMs: 400 },
    ];
    const [call] = gathered([talked(0, { recordingPath: path, sound: heard({ gaps }) })]).worst;
    expect(Buffer.from(call!.soundBase64!, 'base64')).toHaveLength(44 + 45 * 16_000);
    expect(call!.marks).toEqual([{ atMs: 25_000, lengthMs: 400, kind: 'gap', text: 'gap 400 ms' }]);
    expect(call!.why.at(-1)).toBe('The sound begins 1:05 after the answer.');
    expect(call!.waveform!.left.length).toBeLessThanOrEqual(900);
  });

  it('say so where a recording is gone, and are there without it', () => {
    const [call] = gathered([talked(0, { firstWordMs: 9, recordingPath: join(folder, 'none.wav') })]).worst;
    expect([call!.waveform, call!.soundBase64]).toEqual([null, null]);
    expect(call!.why.at(-1)).toMatch(/^Its recording could not be read: ENOENT/);
  });

  it('let go of the recordings of all others, each once', () => {
    const forgotten: string[] = [];
    const onForgottenRecording = (path: string): void => void forgotten.push(path);
    const gatherer = createGatherer({ workload: workloadOf(), onForgottenRecording });
    for (let index = 0; index < 200; index++) {
      const replies = [{ atMs: 0, replyMs: 100 + ((index * 7_919) % 200) }];
      gatherer.add(talked(index, { recordingPath: `${index}`, firstWordMs: index, replies }));
    }
    const { worst } = gatherer.finish(endOf());
    const kept = worst.map(({ index }) => `${index}`);
    expect(new Set(forgotten).size).toBe(forgotten.length);
    expect(kept.filter((path) => forgotten.includes(path))).toEqual([]);
    expect(kept.length + forgotten.length).toBe(200);
  });
});
