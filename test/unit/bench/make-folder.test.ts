import type * as Fs from 'node:fs';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { makeFolder } from '../../../bench/harness/make-folder.ts';

const seen = vi.hoisted(() => ({ hidden: new Set<unknown>() }));
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof Fs>();
  return { ...fs, existsSync: (path: string) => !seen.hidden.delete(path) && fs.existsSync(path) };
});

const root = mkdtempSync(join(tmpdir(), 'parley-make-folder-'));
afterEach(() => rmSync(root, { recursive: true, force: true }));

test('a folder that another run has made meanwhile serves; what is no folder does not', () => {
  const folder = join(root, 'records', 'today');
  makeFolder(folder);
  seen.hidden = new Set([folder, join(root, 'records')]);
  makeFolder(folder);
  expect(statSync(folder).isDirectory()).toBe(true);
  writeFileSync(join(folder, 'file'), '');
  seen.hidden = new Set([join(folder, 'file')]);
  expect(() => makeFolder(join(folder, 'file'))).toThrow(/EEXIST/);
});
