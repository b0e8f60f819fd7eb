/** `npm run demo -- --help` tells what there is before anything is installed or built. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DEMO_USAGE } from '../../../bench/demo/usage.ts';
import { helpOf } from '../../../bench/harness/options.ts';

const HELP = readFileSync('bench/demo/help.txt', 'utf8');

it('bench/demo/help.txt is what the options are', () => {
  expect(HELP).toBe(helpOf(DEMO_USAGE));
});

it.each(['--help', '-h'])('%s is answered in a clone without packages', (word) => {
  const clone = mkdtempSync(join(tmpdir(), 'parley-clone-'));
  cpSync('scripts', join(clone, 'scripts'), { recursive: true });
  cpSync('bench/demo/help.txt', join(clone, 'bench/demo/help.txt'));
  cpSync('package.json', join(clone, 'package.json'));
  cpSync('package-lock.json', join(clone, 'package-lock.json'));
  const { status, stdout } = spawnSync(process.execPath, ['scripts/demo.mjs', '--agent', 'cascade', word], {
    cwd: clone,
    encoding: 'utf8',
    timeout: 20_000,
  });
  rmSync(clone, { recursive: true, force: true });
  expect([status, stdout]).toEqual([0, HELP]);
});
