/** A result in a terminal, and read again from its file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunResult } from '../../../../bench/load/contract/run-result.ts';
import { judgeCondition, parseCondition } from '../../../../bench/load/result/fail-if.ts';
import { formatAt, formatFigure, formatSpan } from '../../../../bench/load/result/format-figure.ts';
import { parseResult, ResultFault, readResult } from '../../../../bench/load/result/read-result.ts';
import { tableOf } from '../../../../bench/load/result/table.ts';
import { madeRun, STEADY } from '../../../support/load-runs/make-run.ts';
import { emptyRun, HOSTILE, richRun } from '../../../support/load-runs/rich-run.ts';

let folder: string;
let rich: RunResult;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-table-'));
  rich = richRun(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('the table', () => {
  it('keeps to 100 columns, whatever a target says', () => {
    const long = { ...rich, warnings: ['word '.repeat(80), 'x'.repeat(400)] };
    for (const result of [rich, long, emptyRun(), madeRun(STEADY)]) {
      for (const line of tableOf(result).split('\n')) expect([...line].length).toBeLessThanOrEqual(100);
    }
  });

  it('lets nothing of it steer the terminal', () => {
    const calls = { ...rich.calls, failedBy: { '\u001b[2J\u202eevil\n': 1 } };
    const table = tableOf({ ...rich, calls });
    expect(table).toContain('failed or lost: 1 × ?[2J?evil?');
    expect(table.includes('\u001b') || table.includes('\u202e')).toBe(false);
  });

  it('says what was asked, what came, what went wrong, and ends with the verdict', () => {
    const conditions = ['reply.p95>1ms', 'resume.p95>1ms'].map((text) => judgeCondition(parseCondition(text), rich));
    const table = tableOf(rich, conditions);
    expect(table).toContain('Asked: 4 calls a second at random for 1 min; 2 kinds of callers.');
    expect(table).toMatch(/Came: \d+ of 216 calls talked, .* together and at most \d+ at once, in 1 min 31 s\./);
    expect(table).toMatch(/refused: \d+ × capacity_exhausted/);
    expect(table).toContain('FAIL resume.p95>1ms: this run did not measure it, which counts as a failure');
    expect(table).toContain('knee: 590 calls at once carried well, between 575 and 600; 612 not');
    expect(table.trimEnd().split('\n\n').at(-1)).toMatch(/^Failed by 2 of 2 conditions\.\n\d+ calls went wrong/);
    expect(table).toContain(HOSTILE.slice(0, 30));
  });

  it('of a run that was stopped says that first of all', () => {
    const last = tableOf(emptyRun()).trimEnd().split('\n\n').at(-1);
    expect(last).toMatch(
      /^Incomplete: Ctrl-C after 1 s\. What is here covers the part before that\.\nNot judged: no call was begun\./,
    );
  });

  it('of a good run ends with that', () => {
    expect(tableOf(madeRun(STEADY)).trimEnd().split('\n').at(-1)).toBe('No call failed, was refused or was lost.');
  });
});

describe('figures', () => {
  it('are written as people read them', () => {
    const written = [
      [formatFigure('time', 1_240.4), '1,240 ms'],
      [formatFigure('time', 3.14), '3.1 ms'],
      [formatFigure('share', 0.9997), '99.97 %'],
      [formatFigure('share', 0.012), '1.20 %'],
      [formatFigure('share', 1), '100 %'],
      [formatFigure('rate', 0.034), '0.034'],
      [formatFigure('bytes', 412e6), '412 MB'],
      [formatFigure('count', 12_345), '12,345'],
      [formatFigure('time', null), '–'],
      [formatSpan(800), '0.80 s'],
      [formatSpan(45_200), '45 s'],
      [formatSpan(3_599_400), '59 min 59 s'],
      [formatSpan(3_900_000), '1 h 05 min'],
      [formatAt(247_900), '4:07'],
      [formatAt(3_725_000), '1:02:05'],
    ];
    expect(written.map(([found]) => found)).toEqual(written.map(([, wanted]) => wanted));
  });
});

describe('a result that is read', () => {
  const text = () => JSON.stringify(rich);
  const faultOf = (given: string): string => {
    try {
      parseResult(given, 'run.json');
    } catch (error) {
      if (error instanceof ResultFault) return error.message;
      throw error;
    }
    throw new Error('it was read');
  };
  const changed = (changes: object): string => JSON.stringify({ ...rich, ...changes });

  it('is the one that was written', () => expect(parseResult(text(), 'run.json')).toEqual(rich));

  it('may be of a run that was stopped, which it says itself', () => {
    expect(parseResult(JSON.stringify(emptyRun()), 'run.json').complete).toBe(false);
  });

  it('is refused with what is wrong with it', () => {
    expect(() => readResult('/nowhere/run.json')).toThrow(/^\/nowhere\/run\.json cannot be read: ENOENT/);
    expect(faultOf('')).toBe('run.json is empty: the run that should have written it did not end.');
    expect(faultOf(text().slice(0, -300))).toContain('it is cut off: the disk was full');
    expect(faultOf('{"a":}')).toMatch(/^run\.json is no JSON; /);
    expect(faultOf('[]')).toContain('is no result of a load test');
    expect(faultOf('{"version":1}')).toContain('it has no "format": "parley-load"');
    expect(faultOf('null')).toBe('run.json is no result of a load test.');
    expect(faultOf(changed({ version: 2 }))).toContain(
      'is of version 2 of the format; this tool reads version 1. Use the tool',
    );
    expect(faultOf(changed({ version: 0 }))).toContain('which this tool reads no longer');
    expect(faultOf(changed({ version: undefined }))).toContain('does not say which version');
    expect(faultOf(changed({ tookMs: 'long' }))).toContain('\n  tookMs: Invalid input');
    expect(faultOf(changed({ novelty: 1 }))).toContain('novelty');
  });
});
