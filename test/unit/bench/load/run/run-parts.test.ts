/** Small parts of a run: exit codes, the knee's search, limits that are told before it, the progress line. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RunResult } from '../../../../../bench/load/contract/run-result.ts';
import { TargetFault } from '../../../../../bench/load/contract/target.ts';
import { descriptorFault } from '../../../../../bench/load/run/descriptor-limit.ts';
import { exitCodeOf } from '../../../../../bench/load/run/exit-code.ts';
import { edgeOf, findKnee, type KneeStep } from '../../../../../bench/load/run/find-knee.ts';
import { assertMayLoad } from '../../../../../bench/load/run/may-load.ts';
import { lineOf } from '../../../../../bench/load/run/progress.ts';
import { prepareOutput, writeResults } from '../../../../../bench/load/run/write-results.ts';
import { PhoneNumbers } from '../../../../../bench/load/targets/parley/phone-numbers.ts';
import { noiseWarnings } from '../../../../../bench/load/usage/machine-facts.ts';
import { processesOf, samplesOf } from '../../../../../bench/load/usage/metrics-scrape.ts';
import { emptyRun } from '../../../../support/load-runs/rich-run.ts';

describe('the exit code', () => {
  const result = (calls: object = {}, more: object = {}): RunResult =>
    ({
      complete: true,
      generator: { judged: true },
      calls: { talked: 9, failed: 0, lost: 0, refused: 0, ...calls },
      workload: { mayFail: false },
      ...more,
    }) as RunResult;
  const code = (one: RunResult, isTrue = false, isInterrupted = false): number =>
    exitCodeOf({ result: one, isInterrupted, conditions: [{ text: '', isTrue, measured: 1, sentence: '' }] });

  test('is 0 where all is well', () => expect(code(result())).toBe(0));
  test('is 1 where a condition is true', () => expect(code(result(), true)).toBe(1));
  test.each(['failed', 'lost', 'refused'])(
    'is 1 where a call was %s, unless the scenario says that some may',
    (fate) => {
      expect(code(result({ [fate]: 1 }))).toBe(1);
      expect(code(result({ [fate]: 1 }, { workload: { mayFail: true } }))).toBe(0);
    },
  );
  test('is 1 where the run broke off', () => expect(code(result({}, { complete: false }))).toBe(1));
  test('is 3 where the tool could not judge, whatever it saw', () => {
    expect(code(result({ failed: 1 }, { generator: { judged: false } }), true)).toBe(3);
  });
  test('is 1 where no call talked, however late the tool was', () => {
    const late = { generator: { judged: false } };
    expect(code(result({ talked: 0, failed: 4 }, late))).toBe(1);
    expect(code(result({ talked: 0 }, late))).toBe(3);
  });
  test('is 130 after Ctrl-C', () => expect(code(result({}, { complete: false }), false, true)).toBe(130));
});

describe('the search for the knee', () => {
  const asked = { of: 'calls', from: 4, to: 256, stepSeconds: 20, unless: [], repetitions: 3 } as const;
  const stepOf = (load: number, good: boolean): KneeStep => ({
    load,
    good,
    why: [],
    replyP95Ms: null,
    frameLateP99Ms: null,
    gapsPerCallMinute: null,
    errorShare: 0,
    cpuCores: null,
  });
  const search = async (isGood: (load: number) => boolean, to = 256) => {
    const loads: number[] = [];
    const knee = await findKnee({ ...asked, unless: [], to }, async (load) => {
      loads.push(load);
      return stepOf(load, isGood(load));
    });
    return { loads, knee };
  };

  test('doubles, halves, and repeats both sides of the edge', async () => {
    const { loads, knee } = await search((load) => load <= 50);
    expect(loads).toEqual([4, 8, 16, 32, 64, 48, 56, 52, 48, 52, 48, 52]);
    expect(knee).toMatchObject({ carried: 48, notCarried: 52, low: 48, high: 48 });
  });

  test('ends where nothing breaks, and where nothing holds', async () => {
    expect((await search(() => true, 16)).knee).toMatchObject({ carried: 16, notCarried: null, low: 16, high: 16 });
    expect((await search(() => false)).knee).toMatchObject({ carried: null, notCarried: 1, low: null, high: null });
  });

  test('is cut short by a stop, and tells what it has', async () => {
    const knee = await findKnee({ ...asked, unless: [] }, async (load) => (load > 8 ? null : stepOf(load, true)));
    expect(knee.steps.map(({ load }) => load)).toEqual([4, 8]);
    expect(knee.carried).toBe(8);
  });

  test('has a spread where repetitions differ', () => {
    const steps = [
      stepOf(40, true),
      stepOf(48, true),
      stepOf(48, true),
      stepOf(48, false),
      stepOf(52, false),
      stepOf(52, true),
      stepOf(52, false),
    ];
    expect(edgeOf(steps)).toEqual({ carried: 48, notCarried: 52, low: 40, high: 52 });
  });
});

describe('before a run', () => {
  test('too few file descriptors are told with the way out', () => {
    const fault = (mostAtOnce: number, processes: number, limit: number | null, mayShare = true): string | null =>
      descriptorFault({ mostAtOnce, processes, mayShare }, limit);
    expect(fault(300, 1, 1_024)).toBeNull();
    expect(fault(1_000, 1, 1_024)).toMatch(
      /^1000 calls at once need 2400 file descriptors .*allows 1024: .*`ulimit -n 2400`, or .*--processes 4, or plan at most 312 /,
    );
    expect(fault(1_000, 4, 1_024)).toBeNull();
    // A Parley's carrier is one process; and where there is not even room for that, fewer calls are no way out.
    expect(fault(1_000, 1, 1_024, false)).toMatch(/`ulimit -n 2400`, or plan at most 312 /);
    expect(fault(4, 1, 64)).toMatch(/allows 64: raise the limit with `ulimit -n 408`$/);
    expect(fault(1_000_000, 1, null)).toBeNull();
  });

  test.each(['http://127.0.0.1:8080', 'http://localhost', 'ws://[::1]:9/x', 'http://127.8.9.1'])(
    '%s may be loaded',
    (url) => assertMayLoad(url, false),
  );

  test.each(['https://voice.example.com', 'http://10.0.0.1', 'http://localhost.example.com', 'http://127.example.com'])(
    '%s wants the word',
    (url) => {
      expect(() => assertMayLoad(url, false)).toThrow(TargetFault);
      expect(() => assertMayLoad(url, false)).toThrow(/--i-may-load-this-target/);
      assertMayLoad(url, true);
    },
  );

  test('numbers begin where nobody lives, are shared among processes, and run out', () => {
    const numbers = new PhoneNumbers('+1415555*');
    expect([numbers.next(() => false), numbers.next(() => false)]).toEqual(['+14155550199', '+14155550200']);
    expect(numbers.next(() => true)).toBeNull();
    const [one, two] = [0, 1].map((process) => new PhoneNumbers('+1415555*', process, 2));
    expect([one!.next(() => false), two!.next(() => false)]).toEqual(['+14155550198', '+14155550199']);
    expect(() => new PhoneNumbers('1415*')).toThrow(/--to 1415\*/);
  });
});

describe('a machine that is too noisy for milliseconds is told', () => {
  const quiet = { cpu: 'x', cores: 2, memoryBytes: 1, system: 'x', loadBefore: 0.5, noiseP99Ms: 0.3, stealShare: 0.01 };
  test.each([
    [{}, []],
    [{ noiseP99Ms: 7.25 }, [/noisy: a thread that does nothing is woken 7.3 ms late at p99/]],
    [{ stealShare: 0.12 }, [/12 % of the processor were taken by other guests/]],
    [{ loadBefore: 3.4 }, [/busy before the run: load average 3.4 on 2 cores/]],
    [{ noiseP99Ms: null, stealShare: null }, []],
  ])('%o', (more, expected) => {
    const warnings = noiseWarnings({ ...quiet, ...more });
    expect(warnings.length).toBe(expected.length);
    for (const [at, words] of expected.entries()) expect(warnings[at]).toMatch(words);
  });
});

describe('results that cannot be written where they should be', () => {
  test('are written elsewhere, and it is said', () => {
    const spare = mkdtempSync(join(tmpdir(), 'parley-spare-'));
    try {
      const written = writeResults(emptyRun(), [], { folder: join(spare, 'gone'), name: 'run', spare });
      expect(written.paths).toEqual([join(spare, 'run.json'), join(spare, 'run.html')]);
      expect(written.faults).toEqual([expect.stringMatching(/run\.json .*ENOENT.*: it is in /), expect.anything()]);
      expect(readdirSync(spare).sort()).toEqual(['run.html', 'run.json']);
    } finally {
      rmSync(spare, { recursive: true });
    }
  });

  test('nor elsewhere: nothing is left of them', () => {
    const written = writeResults(emptyRun(), [], { folder: '/proc/none', name: 'run', spare: '/proc/none' });
    expect(written.paths).toEqual([]);
    expect(written.faults[0]).toMatch(/could not be written \(.*\): nor in \/proc\/none \(/);
  });
});

test('a folder that cannot be made is a fault before the run, also where the system says that nothing is there', () => {
  expect(() => prepareOutput('/proc/none/deeper')).toThrow(TargetFault);
});

test('the progress line says rate, live calls, errors and time left', () => {
  const figures = { elapsedMs: 65_000, wholeMs: 120_000, begun: 40, live: 7, bad: 1, step: null };
  expect(lineOf(figures, 0.6)).toBe('1:05 of 2:00  0.6 calls a second  7 live  40 begun  1 error  0:55 left');
  expect(lineOf({ ...figures, elapsedMs: 121_000, step: 'step 2' }, 0)).toMatch(
    /^step 2 .*waiting for the last calls$/,
  );
});

test('a target’s metrics are read by process', () => {
  const text = [
    '# HELP parley_process_cpu_seconds_total CPU',
    'parley_process_cpu_seconds_total{process="media-0"} 12.5',
    'parley_process_resident_memory_bytes{process="media-0"} 1000',
    'parley_process_event_loop_delay_seconds{quantile="0.5",process="media-0"} 0.001',
    'parley_process_event_loop_delay_seconds{quantile="0.99",process="media-0"} 0.004',
    'process_cpu_seconds_total 3',
  ].join('\n');
  expect(Object.fromEntries(processesOf(samplesOf(text)))).toEqual({
    'media-0': { cpuSeconds: 12.5, residentBytes: 1_000, eventLoopDelayP99Ms: 4 },
    target: { cpuSeconds: 3, residentBytes: null, eventLoopDelayP99Ms: null },
  });
});
