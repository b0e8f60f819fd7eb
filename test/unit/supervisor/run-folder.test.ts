import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { makeRunFolder } from '../../../src/supervisor/run-folder.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'parley-data-'));
afterAll(() => rmSync(dataDir, { recursive: true }));

it('makes the folder of the sockets in the temporary folder, for its owner alone', () => {
  const folder = makeRunFolder(dataDir);
  expect(dirname(folder)).toBe(tmpdir());
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  rmSync(folder, { recursive: true });
});

it('takes the data folder where the temporary folder cannot be written, and names TMPDIR when that is too long', () => {
  const missing = join(dataDir, 'no-such-folder');
  expect(dirname(makeRunFolder(dataDir, missing))).toBe(join(dataDir, 'run'));
  expect(() => makeRunFolder(join(dataDir, 'x'.repeat(90)), missing)).toThrow(/ENOENT.*TMPDIR/);
});
