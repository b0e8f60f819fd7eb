/** The arithmetic of the density card: what belongs to the service, calls a core, what is full first. */
import { describe, expect, test } from 'vitest';
import {
  besideMs,
  callsACoreOf,
  firstLimit,
  kneeLimitsOf,
  mediaThreadMs,
  processMs,
  serviceMs,
  spreadOf,
  validRuns,
} from '../../../../bench/density/reckon.ts';
import { rowOf, runOf } from '../../../support/density/make-density.ts';

test('the service is control, PostgreSQL and media; far ends and emulators are beside it', () => {
  const run = runOf();
  expect(serviceMs(run)).toBe(10);
  expect(besideMs(run)).toBe(9);
  expect(processMs(run, 'media')).toBe(6);
  expect([mediaThreadMs(run, 'main'), mediaThreadMs(run, 'pipeline')]).toEqual([1.5, 4]);
});

test('of several media processes the sum counts', () => {
  const run = runOf({
    processes: [
      { name: 'media-0', cpuMs: 3 },
      { name: 'media-1', cpuMs: 4 },
    ],
  });
  expect(processMs(run, 'media')).toBe(7);
});

describe('a spread', () => {
  test('is the median with the smallest and the largest', () => {
    expect(spreadOf([5, 1, 3, null])).toEqual({ min: 1, median: 3, max: 5 });
  });

  test('of nothing is none', () => expect(spreadOf([null])).toBeNull());

  test('of cost is turned round in calls a core', () => {
    expect(callsACoreOf({ min: 8, median: 10, max: 20 })).toEqual({ min: 50, median: 100, max: 125 });
  });
});

test('runs that were void count nowhere', () => {
  const row = rowOf({ runs: [runOf(), runOf({ voidBecause: 'the tool sent frames 12 ms late at p99' })] });
  expect(validRuns(row)).toHaveLength(1);
});

test('a knee is held to the limits of the card, or to as much worse than where it began', () => {
  const limits = { maxFrameLateP99Ms: 20, minRealTimeShare: 0.999 };
  expect(kneeLimitsOf([runOf()], limits)).toEqual(limits);
  const { maxFrameLateP99Ms, minRealTimeShare } = kneeLimitsOf(
    [runOf({ frameLateP99Ms: 34, realTimeShareMean: 0.99 })],
    limits,
  );
  expect(maxFrameLateP99Ms).toBe(54);
  expect(minRealTimeShare).toBeCloseTo(0.989, 9);
});

describe('at its limit first', () => {
  test('are the cores, where no thread takes more than its part of them', () => {
    expect(firstLimit([runOf()], 2)).toEqual({ what: 'the 2 cores', calls: 200 });
  });

  test('is the thread that no further core helps', () => {
    expect(firstLimit([runOf()], 4)).toEqual({ what: 'media-0: pipeline-0', calls: 250 });
  });

  test('is told of the medians, not of one bad run', () => {
    const bad = runOf({ threads: [{ process: 'control', thread: 'main', cpuMs: 9 }] });
    expect(firstLimit([runOf(), bad, runOf()], 4)).toEqual({ what: 'media-0: pipeline-0', calls: 250 });
  });

  test('is nothing without runs', () => expect(firstLimit([], 2)).toBeNull());
});
