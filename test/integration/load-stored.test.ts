/** `compare` and `report` on stored runs, as a CI calls them: what they print, and with which code they end. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtEntry } from '../../src/config/built-entry.ts';
import { type StoredRun, storedPath } from '../support/load-runs/stored-runs.ts';
import { runNode } from '../support/run-node.ts';

const run = (...words: string[]) => runNode([builtEntry('bench/load/stored.js'), ...words]);
const compare = (before: StoredRun, after: StoredRun, ...flags: string[]) =>
  run('compare', storedPath(before), storedPath(after), ...flags);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-stored-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('compare', () => {
  it('ends with 0 where nothing is worse', async () => {
    const { code, out } = await compare('before', 'again', '--tolerance', '10%');
    expect(out).toContain('Nothing is worse by more than 10 %, as far as can be told.');
    expect(code).toBe(0);
  });

  it('ends with 1 where something is, and names it', async () => {
    const { code, out } = await compare('before', 'worse');
    expect(out).toMatch(/^! reply\.p50 +6\d\d ms +7\d\d ms {3}worse by \d+–\d+ %$/m);
    expect(out).toMatch(/^! errors\.share .* worse by [\d.]+–[\d.]+ percentage points$/m);
    expect(out).toMatch(/^Worse, by more than 5 %: .*reply\.p50/m);
    expect(code).toBe(1);
  });

  it('says the same to machines', async () => {
    const { code, out } = await compare('before', 'worse', '--json');
    const { isWorse, measures } = JSON.parse(out);
    expect([code, isWorse]).toEqual([1, true]);
    expect(measures.find(({ name }: { name: string }) => name === 'reply.p50').verdict.is).toBe('worse');
  });

  it('ends with 2 where the runs do not compare, unless it is told to compare them anyway', async () => {
    const other = await compare('before', 'another-workload');
    expect([other.code, other.out]).toEqual([2, expect.stringContaining('the workloads differ in: mostAtOnce')]);
    const stopped = await compare('before', 'stopped');
    expect([stopped.code, stopped.out]).toEqual([
      2,
      expect.stringContaining('the second run is incomplete: Ctrl-C after 21 s'),
    ]);
    const anyway = await compare('before', 'another-workload', '--anyway', '--tolerance', '0.2');
    expect([anyway.code, anyway.out]).toEqual([0, expect.stringContaining('Compared anyway: the workloads differ')]);
  });

  it('ends with 3 where the tool itself was late in one of them', async () => {
    const { code, out } = await compare('before', 'unjudged');
    expect([code, out]).toEqual([3, expect.stringContaining('There is no verdict: the second run could not judge')]);
  });

  it('ends with 2 for what is no result, and for options that do not exist', async () => {
    const cut = join(folder, 'cut.json');
    writeFileSync(cut, readFileSync(storedPath('before')).subarray(0, 5_000));
    const wrong = await Promise.all([
      run('compare', storedPath('before'), cut),
      run('compare', storedPath('before'), join(folder, 'none.json')),
      compare('before', 'again', '--tolerance', 'little'),
      compare('before', 'again', '--loudly'),
      run('compare', storedPath('before')),
    ]);
    expect(wrong.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2]);
    const said = ['it is cut off', 'cannot be read: ENOENT', '--tolerance takes a share', '--loudly', 'after.json'];
    for (const [at, words] of said.entries()) expect(wrong[at]!.out).toContain(words);
  });
});

describe('report', () => {
  it('prints the table, writes the HTML, and ends with 0 where no condition is true', async () => {
    const html = join(folder, 'run.html');
    const { code, out } = await run('report', '--html', html, '--fail-if', 'reply.p95>2s', storedPath('before'));
    expect(out).toContain('ok   reply.p95>2s: it is ');
    expect(out).toContain(`written: ${html}`);
    expect(readFileSync(html, 'utf8')).toMatch(/^<!doctype html>/);
    expect(code).toBe(0);
  });

  it('ends with 1 where a condition is true, also one that asks for what was not measured', async () => {
    const slow = await run(
      'report',
      storedPath('worse'),
      '--fail-if',
      'reply.p50>700ms',
      '--fail-if',
      'errors.share>50%',
    );
    expect([slow.code, slow.out]).toEqual([1, expect.stringContaining('FAIL reply.p50>700ms: it is ')]);
    const unknown = await run('report', storedPath('before'), '--fail-if', 'lost.share>1%');
    expect([unknown.code, unknown.out]).toEqual([1, expect.stringContaining('this run did not measure it')]);
  });

  it('ends with 2 for a condition that cannot be read, for a place where nothing can be written, and with 3 for a run that could not judge', async () => {
    const wrong = await run('report', storedPath('before'), '--fail-if', 'latency>1s');
    expect([wrong.code, wrong.out]).toEqual([2, expect.stringContaining('there is no measure "latency"')]);
    const nowhere = await run('report', storedPath('before'), '--html', join(folder, 'no', 'such', 'run.html'));
    expect([nowhere.code, nowhere.out]).toEqual([2, expect.stringContaining('run.html cannot be written: ENOENT')]);
    const unjudged = await run('report', storedPath('unjudged'), '--fail-if', 'reply.p95>1ms');
    expect([unjudged.code, unjudged.out]).toEqual([3, expect.stringContaining('Not judged: ')]);
  });
});
