import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readMasterKey, replaceMasterKeyFile } from '../../../src/supervisor/master-key.ts';

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
  const made = readMasterKey(null, dataDir, clusterHome, warn);
  const file = join(dataDir, 'master.key');
  expect(made).toEqual({ keys: [expect.stringMatching(/^[0-9a-f]{64}$/)], file });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readMasterKey(null, dataDir, clusterHome, warn)).toEqual(made);
  expect(said).toHaveLength(1);
  expect(said[0]).not.toContain(made.keys[0]);
});

test('a cluster whose key was lost is refused, and no new key is made beside it', () => {
  readMasterKey(null, dataDir, clusterHome, warn);
  mkdirSync(join(clusterHome, 'cluster'), { recursive: true });
  rmSync(join(dataDir, 'master.key'));
  expect(() => readMasterKey(null, dataDir, clusterHome, warn)).toThrow(/is missing.*Restore the key/);
  expect(() => readFileSync(join(dataDir, 'master.key'))).toThrow();
});

test('the plain digest of the key, which former versions left beside the cluster, goes away', () => {
  mkdirSync(clusterHome);
  const digest = join(clusterHome, 'master-key.sha256');
  writeFileSync(digest, 'aa'.repeat(32));
  const given = { from: 'environment', keys: ['a'.repeat(64)] } as const;
  expect(readMasterKey(given, dataDir, clusterHome, warn)).toEqual({ keys: given.keys, file: null });
  expect(existsSync(digest)).toBe(false);
});

test('the file takes a second key and loses it again, whole and for its owner alone', () => {
  const { keys, file } = readMasterKey(null, dataDir, null, warn);
  const both = ['b'.repeat(64), keys[0]!];
  replaceMasterKeyFile(file!, both);
  expect(readMasterKey(null, dataDir, null, warn).keys).toEqual(both);
  replaceMasterKeyFile(file!, both.slice(0, 1));
  expect(readMasterKey(null, dataDir, null, warn).keys).toEqual(both.slice(0, 1));
  expect(statSync(file!).mode & 0o777).toBe(0o600);
  writeFileSync(file!, 'secret-canary');
  expect(() => readMasterKey(null, dataDir, null, warn)).toThrow(/64 hexadecimal digits/);
});
