import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openPatientDatabase } from '../../bench/harness/patient-database.ts';
import { startEmbeddedPostgres } from '../../src/supervisor/postgres/embedded-postgres.ts';
import { placeDatabase } from '../../src/supervisor/postgres/placement.ts';
import { eventually } from '../support/eventually.ts';

const folders: string[] = [];

function newDataDir(): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-pg-'));
  folders.push(dataDir);
  return dataDir;
}

afterEach(() => {
  for (const dataDir of folders.splice(0)) {
    rmSync(placeDatabase(dataDir).home, { recursive: true, force: true });
    rmSync(dataDir, { recursive: true, force: true });
  }
});

async function rowsOf(connectionString: string, sql: string): Promise<object[]> {
  const database = openPatientDatabase(connectionString);
  try {
    return await database.query(sql);
  } finally {
    await database.close();
  }
}

/** Starts a database in a process of its own and kills that process. Resolves with the postmaster's pid. */
async function killOwner(dataDir: string): Promise<number> {
  const script = `
    import { startEmbeddedPostgres } from './dist/src/supervisor/postgres/embedded-postgres.js';
    const postgres = await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)}, volatile: true, log() {} });
    console.log(postgres.pid());
    setInterval(() => {}, 1000);`;
  const owner = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const pid = await new Promise<number>((done) => owner.stdout.once('data', (line: Buffer) => done(Number(line))));
  const ended = new Promise((done) => owner.once('exit', done));
  owner.kill('SIGKILL');
  await ended;
  return pid;
}

/** A process that ended but was not collected by its new parent counts as gone. */
function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

test('a postmaster whose owner is killed ends by itself, and what it stored is there after the next start', async () => {
  const dataDir = newDataDir();
  const first = await startEmbeddedPostgres({ dataDir, log: () => {} });
  await rowsOf(first.connectionString, 'CREATE TABLE kept AS SELECT 7 AS n');
  await first.stop();
  const orphan = await killOwner(dataDir);
  const next = await startEmbeddedPostgres({ dataDir, log: () => {} });
  expect(isAlive(orphan)).toBe(false);
  expect(await rowsOf(next.connectionString, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
  await next.stop();
});

test('a postmaster that is killed comes back by itself at the same address', async () => {
  const postgres = await startEmbeddedPostgres({ dataDir: newDataDir(), log: () => {} });
  const before = postgres.pid() ?? 0;
  process.kill(before, 'SIGKILL');
  const rows = await eventually('an answer', () =>
    rowsOf(postgres.connectionString, 'SELECT 1 AS one').catch(() => null),
  );
  expect(rows).toEqual([{ one: 1 }]);
  expect(postgres.pid()).not.toBe(before);
  await postgres.stop();
});

test.each([
  ['before it opens its port', 'global/pg_control'],
  ['behind its open port, reading its log again', 'pg_wal'],
])('one that cannot start is told at once: %s', async (_when, lost) => {
  const dataDir = newDataDir();
  const first = await startEmbeddedPostgres({ dataDir, log: () => {} });
  await first.stop();
  rmSync(join(placeDatabase(dataDir).home, 'cluster', lost), { recursive: true });
  const lines: string[] = [];
  const second = startEmbeddedPostgres({ dataDir, log: (line) => lines.push(line) });
  await expect(second).rejects.toThrow(/^PostgreSQL ended at once \(code \d+\); its log folder says why\.$/);
  // It is not tried again and again until the time is over.
  expect(lines).toEqual([]);
});

test('a data folder that a living Parley holds is refused, with the way out', async () => {
  const dataDir = newDataDir();
  const script = `
    import { startEmbeddedPostgres } from './dist/src/supervisor/postgres/embedded-postgres.js';
    try { await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)}, log() {} }); console.log('started'); }
    catch (error) { console.log(error.message); }`;
  const holder = await startEmbeddedPostgres({ dataDir, log: () => {} });
  const second = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said = await new Promise<string>((done) => second.stdout.once('data', (data: Buffer) => done(data.toString())));
  expect(said).toContain(`process ${process.pid}`);
  expect(said).toContain('PARLEY_DATA_DIR');
  await holder.stop();
});
