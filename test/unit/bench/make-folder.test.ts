import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeFolder } from '../../../bench/harness/make-folder.ts';

const root = mkdtempSync(join(tmpdir(), 'parley-make-folder-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test('a folder that another run has made meanwhile serves; what is no folder does not', () => {
  const folder = join(root, 'records', 'today');
  makeFolder(folder);
  // They were not there when it looked.
  makeFolder(folder, (path) => path === root);
  expect(statSync(folder).isDirectory()).toBe(true);
  const file = join(folder, 'file');
  writeFileSync(file, '');
  expect(() => makeFolder(file, (path) => path !== file)).toThrow(/EEXIST/);
});
