/** The built command line as an operator runs it: a real process, real standard input, exit codes. */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

const BIN = fileURLToPath(new URL('../../bin/parley.mjs', import.meta.url));
let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.close());

async function run(bin: string, words: string[], input = ''): Promise<{ code: number; out: string; err: string }> {
  const child = spawn(process.execPath, [bin, ...words], {
    env: { PATH: process.env['PATH'], DATABASE_URL: test.connectionString, PARLEY_MASTER_KEY: 'ab'.repeat(32) },
  });
  child.stdin.end(input);
  const ended = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? -1)));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, out, err };
}

describe('bin/parley.mjs', () => {
  it('works on a database, reads a token from standard input, and ends by itself with 0', async () => {
    expect(await run(BIN, ['workspace', 'create', 'acme', '--name', 'Acme'])).toMatchObject({ code: 0, err: '' });
    const line = ['line', 'add', 'acme', '--number', '+14155550100', '--carrier', 'plivo', '--auth-id', 'MA0'];
    const added = await run(BIN, [...line, '--auth-token-file', '-', '--json'], 'token-canary\n');
    expect(JSON.parse(added.out)).toMatchObject({ number: '+14155550100', hasCredentials: true });
    expect(added.code).toBe(0);
  });

  it('ends with 1 and one sentence on standard error after a fault', async () => {
    const failed = await run(BIN, ['key', 'create', 'acme', '--name', 'k']);
    expect(failed).toEqual({
      code: 1,
      out: '',
      err: "API access is off for 'acme'; first: npx parley workspace api enable acme\n",
    });
  });

  it('says how to build when there is no dist', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-bin-'));
    cpSync(BIN, join(folder, 'bin', 'parley.mjs'));
    const failed = await run(join(folder, 'bin', 'parley.mjs'), ['workspace', 'list']);
    expect([failed.code, failed.err]).toEqual([
      1,
      'Parley has not been built yet. In its folder, run: npm run build\n',
    ]);
    rmSync(folder, { recursive: true });
  });
});
