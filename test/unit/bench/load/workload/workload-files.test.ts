/** Workload files: the ready scenarios, and what is said of a file that cannot be run. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parseCondition } from '../../../../../bench/load/result/fail-if.ts';
import {
  parseWorkload,
  readWorkload,
  scenarioNames,
  scenarioPath,
  WorkloadFault,
} from '../../../../../bench/load/workload/read-workload.ts';
import { phasesLastMs, planCalls } from '../../../../../bench/load/workload/schedule.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-workload-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const LEAST = {
  version: 1,
  name: 'least',
  phases: [{ arrivals: 'poisson', perSecond: 1, forSeconds: 10 }],
  callers: [{ name: 'one' }],
};

function faultOf(value: unknown): string {
  try {
    parseWorkload(value, 'file.json');
  } catch (error) {
    expect(error).toBeInstanceOf(WorkloadFault);
    return (error as Error).message;
  }
  throw new Error('it was taken');
}

describe('a ready scenario', () => {
  test('is there for each use', () => {
    expect(scenarioNames()).toEqual(['burst', 'deploy', 'knee', 'quick', 'soak', 'steady']);
  });

  test.each(scenarioNames())('%s fits the schema, plans calls, and its conditions can be read', (name) => {
    const workload = readWorkload(scenarioPath(name));
    expect(workload.name).toBe(name);
    expect(planCalls(workload).next().done).toBe(false);
    for (const condition of workload.knee?.unless ?? []) expect(parseCondition(condition).text).toBe(condition);
  });

  test('quick is over in less than two minutes, its longest call and the preparation included', () => {
    const workload = readWorkload(scenarioPath('quick'));
    const lastMs = [...planCalls(workload)].reduce((last, { atMs, lengthMs }) => Math.max(last, atMs + lengthMs), 0);
    expect(Math.max(lastMs, phasesLastMs(workload))).toBeLessThan(95_000);
  });

  test('that is not there is answered with those that are', () => {
    expect(() => scenarioPath('quik')).toThrow(/--scenario quik: there is none.*burst, deploy, knee, quick/);
  });
});

describe('a file that cannot be run', () => {
  test('is told with the place of each fault', () => {
    const fault = faultOf({
      ...LEAST,
      phases: [{ arrivals: 'poisson', perSecond: -1, forSeconds: 10 }],
      callers: [
        { name: 'one', lengthSeconds: [5, 2] },
        { name: 'two', talk: { kind: 'sings' } },
      ],
    });
    expect(fault).toContain('file.json is no workload');
    expect(fault).toContain('phases[0].perSecond:');
    expect(fault).toContain('callers[0].lengthSeconds: least first');
    expect(fault).toContain('callers[1].talk');
    expect(fault).toContain('silent, on-off, turns');
  });

  test('names a field that does not exist', () => {
    expect(faultOf({ ...LEAST, calers: [] })).toContain('"calers" is no field of it');
  });

  test('says what does not go together', () => {
    const callers = [
      { name: 'one', unanswered: { busy: 0.6, noAnswer: 0.6 } },
      { name: 'one', resumeShare: 0.5 },
    ];
    const fault = faultOf({ ...LEAST, callers, knee: { from: 10, to: 5 } });
    expect(fault).toContain('callers[0].unanswered: noAnswer, busy and declined come to more than 1');
    expect(fault).toContain('callers[1].name: "one" is taken');
    expect(fault).toContain('callers[1].resumeShare: only browser sessions resume');
    expect(fault).toContain('knee.from: must be less than knee.to');
  });

  test('that is not there, or no JSON, is named', () => {
    expect(() => readWorkload(join(folder, 'none.json'))).toThrow(/none\.json cannot be read \(ENOENT\)/);
    writeFileSync(join(folder, 'half.json'), '{"version": 1,');
    expect(() => readWorkload(join(folder, 'half.json'))).toThrow(/half\.json is no JSON/);
  });

  test('paths count from its own folder', () => {
    writeFileSync(join(folder, 'log.csv'), 'createdAt\n2026-01-01T00:00:00Z\n');
    const phases = [{ arrivals: 'replay', path: 'log.csv' }];
    writeFileSync(join(folder, 'replay.json'), JSON.stringify({ ...LEAST, phases }));
    expect(readWorkload(join(folder, 'replay.json')).phases[0]).toMatchObject({ path: join(folder, 'log.csv') });
    writeFileSync(join(folder, 'gone.json'), JSON.stringify({ ...LEAST, phases: [{ ...phases[0], path: 'x.csv' }] }));
    expect(() => readWorkload(join(folder, 'gone.json'))).toThrow(/phases\[0\]\.path: there is no file/);
  });
});
