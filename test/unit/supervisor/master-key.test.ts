import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readMasterKey } from '../../../src/supervisor/master-key.ts';

let dataDir: string;
let clusterHome: string;
const said: string[] = [];
const warn = (line: string): void => void said.push(line);

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'parley-key-'));
  clusterHome = join(dataDir, 'database');
  said.length = 0;
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

test('the first start makes a key that only its owner can read, says so once, and the second start takes the same', () => {
  const key = readMasterKey(null, dataDir, clusterHome, warn);
  expect(key).toMatch(/^[0-9a-f]{64}$/);
  expect(statSync(join(dataDir, 'master.key')).mode & 0o777).toBe(0o600);
  expect(readMasterKey(null, dataDir, clusterHome, warn)).toBe(key);
  expect(said).toHaveLength(1);
  expect(said[0]).not.toContain(key);
});

test('a cluster whose key was lost is refused, and no new key is made beside it', () => {
  readMasterKey(null, dataDir, clusterHome, warn);
  rmSync(join(dataDir, 'master.key'));
  expect(() => readMasterKey(null, dataDir, clusterHome, warn)).toThrow(/is missing.*Restore the key/);
  expect(() => readFileSync(join(dataDir, 'master.key'))).toThrow();
});

test('a cluster that was written with another key is refused', () => {
  readMasterKey('a'.repeat(64), dataDir, clusterHome, warn);
  expect(readMasterKey('A'.repeat(64), dataDir, clusterHome, warn)).toBe('A'.repeat(64));
  expect(() => readMasterKey('b'.repeat(64), dataDir, clusterHome, warn)).toThrow('the master key is another');
});
