/** From a stored result of the load tester to the figures of a row, and from its search to a knee. */
import { describe, expect, test } from 'vitest';
import { besideMs, serviceMs } from '../../../../bench/density/reckon.ts';
import { rowRunOf, serviceKneeOf } from '../../../../bench/density/row-run.ts';
import type { RunResult } from '../../../../bench/load/contract/run-result.ts';
import { readResult } from '../../../../bench/load/result/read-result.ts';
import { storedPath } from '../../../support/load-runs/stored-runs.ts';

const stored = (changes: Partial<RunResult> = {}): RunResult => ({ ...readResult(storedPath('before')), ...changes });

describe('a run', () => {
  test('has the cost of the whole, and of each process its part of it', () => {
    const result = stored();
    const run = rowRunOf(result, 3);
    expect(run).toMatchObject({ repetition: 3, voidBecause: null, noise: null, talked: result.calls.talked });
    // 0.62 cores of media, 0.11 of control and 0.08 of PostgreSQL are the 1.34 ms; the far end has 0.31.
    expect(serviceMs(run)).toBeCloseTo(1.34, 9);
    expect(run.processes.find(({ name }) => name === 'media')?.cpuMs).toBeCloseTo((1.34 * 0.62) / 0.81, 9);
    expect(besideMs(run)).toBeCloseTo((1.34 * 0.31) / 0.81, 9);
  });

  test('has its threads by the seconds that all calls talked together', () => {
    const result = stored();
    result.usage.threads = [{ process: 'media', thread: 'main', cpuMs: 500 }];
    result.calls.talkMs = 250_000;
    expect(rowRunOf(result, 1).threads).toEqual([{ process: 'media', thread: 'main', cpuMs: 2 }]);
  });

  test('that the tool could not judge is void, and says why', () => {
    const run = rowRunOf(readResult(storedPath('unjudged')), 1);
    expect(run.voidBecause).toMatch(/busy for 97 % of a core/);
  });

  test('that was stopped, or whose calls went wrong, is void', () => {
    expect(rowRunOf(readResult(storedPath('stopped')), 1).voidBecause).not.toBeNull();
    const result = stored();
    result.calls.refused = 2;
    expect(rowRunOf(result, 1).voidBecause).toBe(`2 of ${result.calls.planned} calls went wrong`);
  });

  test('on a noisy machine counts, and says so', () => {
    const result = stored();
    result.machine.noiseP99Ms = 7;
    expect(rowRunOf(result, 1)).toMatchObject({ voidBecause: null, noise: expect.stringMatching(/noisy.*7\.0 ms/) });
  });
});

describe('a knee', () => {
  const step = (load: number, why: string[]) => ({
    ...{ load, good: why.length === 0, why, replyP95Ms: null, frameLateP99Ms: 1 },
    ...{ gapsPerCallMinute: 0, errorShare: 0, cpuCores: 1 },
  });
  const limits = { maxFrameLateP99Ms: 20, minRealTimeShare: 0.999 };
  const kneeOf = (why: string[]) =>
    serviceKneeOf(
      {
        ...{ of: 'calls', carried: 40, notCarried: 48, low: 40, high: 40 },
        steps: [step(40, []), step(96, ['errors.share is 4 %']), step(48, why)],
      },
      limits,
    );

  test('was broken by what was wrong at its edge, not far beyond it', () => {
    expect(kneeOf(['frameLateness.p99 is 31 ms'])).toEqual({
      ...{ limits, carried: 40, notCarried: 48, low: 40, high: 40 },
      ...{ brokeBy: ['frameLateness.p99 is 31 ms'], isOfTool: false },
    });
  });

  test('of the tool is told apart from one of the service', () => {
    expect(kneeOf(['the tool could not judge: it was late']).isOfTool).toBe(true);
  });
});
