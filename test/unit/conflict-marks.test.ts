import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
// @ts-expect-error plain JavaScript without types
import { conflictMarks } from '../../scripts/check.mjs';

it('finds the marks of an unfinished merge in any tracked file, and in nothing that only looks like them', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-marks-'));
  try {
    const mark = (sign: string): string => sign.repeat(7);
    writeFileSync(join(folder, 'page.md'), `a\n${mark('<')} HEAD\nb\n${mark('=')}\nc\n${mark('>')} 1234 (why)\n`);
    writeFileSync(join(folder, 'data.json'), `{}\r\n${mark('|')} base\r\n`);
    writeFileSync(join(folder, 'fine.md'), `Title\n${mark('=')}\n\n  ${mark('<')} quoted\n${mark('>')}> deep\n`);
    writeFileSync(join(folder, 'untracked.md'), `${mark('<')} HEAD\n`);
    for (const args of [
      ['init', '-q'],
      ['add', 'page.md', 'data.json', 'fine.md'],
    ]) {
      expect(spawnSync('git', args, { cwd: folder }).status).toBe(0);
    }
    expect(conflictMarks(folder)).toEqual(['data.json:2', 'page.md:2', 'page.md:6']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
