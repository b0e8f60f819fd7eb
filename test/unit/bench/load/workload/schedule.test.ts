/** The schedule: when calls begin by each arrival process, and what each call is, the same for the same seed. */
import { describe, expect, test } from 'vitest';
import type { WorkloadInput } from '../../../../../bench/load/contract/workload.ts';
import { dryRunOf, figuresOf } from '../../../../../bench/load/workload/dry-run.ts';
import { parseWorkload, WorkloadFault } from '../../../../../bench/load/workload/read-workload.ts';
import { beginningsOf } from '../../../../../bench/load/workload/replay-log.ts';
import { busyMsOf, phasesLastMs, planCalls, stepOfKnee } from '../../../../../bench/load/workload/schedule.ts';

function workloadOf(phases: WorkloadInput['phases'], more: Partial<WorkloadInput> = {}) {
  const callers: WorkloadInput['callers'] = [{ name: 'one', ringSeconds: 0, lengthSeconds: 10 }];
  return parseWorkload({ version: 1, name: 'test', phases, callers, ...more }, 'test');
}

const beginsOf = (workload: ReturnType<typeof workloadOf>): number[] =>
  [...planCalls(workload)].map(({ atMs }) => atMs);

describe('arrivals', () => {
  test('poisson: the mean rate, exponential gaps, in order, within the phase', () => {
    const begins = beginsOf(workloadOf([{ arrivals: 'poisson', perSecond: 20, forSeconds: 500 }]));
    expect(begins.length).toBeGreaterThan(9_700);
    expect(begins.length).toBeLessThan(10_300);
    expect(begins).toEqual(begins.toSorted((a, b) => a - b));
    expect(begins.at(-1)).toBeLessThan(500_000);
    const gaps = begins.slice(1).map((ms, at) => ms - begins[at]!);
    const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
    const variance = gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length;
    // Of exponential gaps the spread is the mean.
    expect(Math.sqrt(variance) / mean).toBeGreaterThan(0.95);
    expect(Math.sqrt(variance) / mean).toBeLessThan(1.05);
  });

  test('ramp: the rate goes evenly from one to the other, up and down', () => {
    for (const [fromPerSecond, toPerSecond] of [
      [0.01, 40],
      [40, 0.01],
    ] as const) {
      const begins = beginsOf(workloadOf([{ arrivals: 'ramp', fromPerSecond, toPerSecond, forSeconds: 200 }]));
      const firstHalf = begins.filter((ms) => ms < 100_000).length / begins.length;
      expect(begins.length).toBeGreaterThan(3_700);
      expect(begins.length).toBeLessThan(4_300);
      expect(firstHalf).toBeCloseTo(fromPerSecond < toPerSecond ? 0.25 : 0.75, 1);
    }
  });

  test('burst: so many, evenly over its time; the next phase begins after the rest', () => {
    const begins = beginsOf(
      workloadOf([
        { arrivals: 'burst', calls: 4, overSeconds: 2, restSeconds: 8 },
        { arrivals: 'burst', calls: 2 },
      ]),
    );
    expect(begins).toEqual([0, 500, 1_000, 1_500, 10_000, 10_000]);
  });

  test('level: so many at once, each replaced when it is over', () => {
    const workload = workloadOf([{ arrivals: 'level', calls: 5, rampSeconds: 5, forSeconds: 60 }]);
    const calls = [...planCalls(workload)];
    expect(calls.slice(0, 7).map(({ atMs }) => atMs)).toEqual([0, 1_000, 2_000, 3_000, 4_000, 10_000, 11_000]);
    for (let ms = 4_001; ms < 60_000; ms += 997) {
      expect(calls.filter(({ atMs, lengthMs }) => atMs <= ms && ms < atMs + lengthMs)).toHaveLength(5);
    }
  });

  test('level: lines of calls of different lengths stay in the order of time', () => {
    const callers = [{ name: 'one', ringSeconds: 0, lengthSeconds: [1, 9] as [number, number] }];
    const begins = beginsOf(workloadOf([{ arrivals: 'level', calls: 20, forSeconds: 100 }], { callers }));
    expect(begins).toEqual(begins.toSorted((a, b) => a - b));
  });

  test('replay: the log’s own hours, pressed into the time that is given', () => {
    const csv = 'id,createdAt\n1,2026-01-01T10:00:00Z\n2,2026-01-01T12:00:00Z\n3,2026-01-01T11:00:00Z\n';
    const logs = new Map([['log.csv', beginningsOf(csv, 'log.csv')]]);
    const workload = workloadOf([{ arrivals: 'replay', path: 'log.csv', forSeconds: 60 }]);
    expect([...planCalls(workload, logs)].map(({ atMs }) => atMs)).toEqual([0, 30_000, 60_000]);
    expect(phasesLastMs(workload, logs)).toBe(60_000);
  });

  test('replay: reads JSON too, and says what it misses', () => {
    const json = JSON.stringify({
      data: [{ startedAt: '2026-01-01T10:00:01Z' }, { startedAt: '2026-01-01T10:00:00Z' }],
    });
    expect(beginningsOf(json, 'log.json')).toEqual([0, 1_000]);
    expect(() => beginningsOf('[{"at": 1}]', 'log.json')).toThrow(WorkloadFault);
    expect(() => beginningsOf('createdAt\nsoon\n', 'log.csv')).toThrow(/createdAt of call 1 is "soon"/);
    expect(() => beginningsOf('{"calls": 3}', 'log.json')).toThrow(/no list of calls/);
  });
});

describe('the schedule', () => {
  const mixed = workloadOf([{ arrivals: 'poisson', perSecond: 50, forSeconds: 100 }], {
    callers: [
      { name: 'phone', weight: 3, lengthSeconds: [5, 15], unanswered: { busy: 0.2, noAnswer: 0.1 } },
      { name: 'browser', by: 'browser', codec: 'opus', resumeShare: 0.5 },
    ],
  });

  test('is the same for the same seed and another for another', () => {
    expect([...planCalls(mixed)]).toEqual([...planCalls(mixed)]);
    expect(beginsOf({ ...mixed, seed: 2 })).not.toEqual(beginsOf(mixed));
  });

  test('deals callers by their weights and outcomes by their shares', () => {
    const calls = [...planCalls(mixed)];
    const phones = calls.filter(({ caller }) => caller === 'phone');
    expect(phones.length / calls.length).toBeCloseTo(0.75, 1);
    expect(phones.filter(({ outcome }) => outcome === 'busy').length / phones.length).toBeCloseTo(0.2, 1);
    expect(phones.filter(({ outcome }) => outcome === 'no_answer').length / phones.length).toBeCloseTo(0.1, 1);
    for (const { lengthMs, resumesAtMs } of phones) {
      expect(lengthMs).toBeGreaterThanOrEqual(5_000);
      expect(lengthMs).toBeLessThan(15_000);
      expect(resumesAtMs).toBeNull();
    }
    const browsers = calls.filter(({ by }) => by === 'browser');
    const resuming = browsers.filter(({ resumesAtMs }) => resumesAtMs !== null);
    expect(resuming.length / browsers.length).toBeCloseTo(0.5, 1);
    for (const { resumesAtMs, lengthMs } of resuming) expect(resumesAtMs!).toBeLessThan(lengthMs);
  });

  test('is made call by call: a day of calls is not held', () => {
    const endless = workloadOf([{ arrivals: 'poisson', perSecond: 1_000, forSeconds: 86_400 }]);
    const calls = planCalls(endless);
    for (let i = 0; i < 1_000; i++) expect(calls.next().value?.index).toBe(i);
  });

  test('a step of the knee has its load alone', () => {
    const phases: WorkloadInput['phases'] = [{ arrivals: 'burst', calls: 1 }];
    const of = (knee: NonNullable<WorkloadInput['knee']>, load: number) =>
      stepOfKnee(workloadOf(phases, { knee }), load, 7);
    expect(of({ from: 1, to: 9, stepSeconds: 20 }, 6).phases).toEqual([
      { arrivals: 'level', calls: 6, rampSeconds: 5, forSeconds: 20 },
    ]);
    const perSecond = of({ of: 'perSecond', from: 1, to: 9, stepSeconds: 20 }, 2.5);
    expect(perSecond.phases).toEqual([{ arrivals: 'poisson', perSecond: 2.5, forSeconds: 20 }]);
    expect(perSecond).toMatchObject({ seed: 7 });
    expect(perSecond.knee).toBeUndefined();
  });
});

describe('the dry run', () => {
  test('counts the calls, the most at once and the callers’ shares', () => {
    const workload = workloadOf([{ arrivals: 'level', calls: 5, rampSeconds: 5, forSeconds: 60 }]);
    const calls = [...planCalls(workload)];
    const figures = figuresOf(calls, phasesLastMs(workload));
    expect(figures).toMatchObject({ calls: calls.length, isCut: false, mostAtOnce: 5 });
    expect(figures.begun.reduce((sum, count) => sum + count, 0)).toBe(calls.length);
    expect(figures.lastEndMs).toBe(Math.max(...calls.map((call) => call.atMs + busyMsOf(call))));
    const text = dryRunOf(workload, figures);
    expect(text).toContain(`calls        ${calls.length}`);
    expect(text).toContain('one 30 (100 %)');
    expect(text).toMatch(/at once +▃▅▆█/);
  });

  test('of a workload without calls says so', () => {
    const workload = workloadOf([{ arrivals: 'poisson', perSecond: 0.001, forSeconds: 0 }]);
    expect(dryRunOf(workload, figuresOf(planCalls(workload), 0))).toContain('callers      none');
  });
});
