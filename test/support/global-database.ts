/**
 * Vitest global setup: one embedded PostgreSQL for the whole test run, with a migrated template that tests copy. With
 * TEST_DATABASE_URL (a superuser's, of a database `parley`) it is that server's, of any version, one run at a time.
 * It lies in memory where there is room: a copy is 730 files, and ext4, which gives no inode out again within five
 * seconds of its removal (`recently_deleted`), takes 20 times as long to make and remove one.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { patientAddress } from '../../bench/harness/patience.ts';
import { migrate } from '../../src/store/migrate.ts';
import { startEmbeddedPostgres } from '../../src/supervisor/postgres/embedded-postgres.ts';
import { placeDatabase } from '../../src/supervisor/postgres/placement.ts';
import { administer } from './admin-database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    databaseServer: string;
  }
}

const MEMORY = '/dev/shm';
/** With the process that has it. */
const OWN_NAME = /^parley-test-(\d+)-/;
/** Of a run's databases, several at once, and their log. */
const ROOM_BYTES = 2 * 1024 ** 3;

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await startServer();
  const server = postgres.connectionString.replace(/\/[^/]*$/, '');
  const anew = ['DROP DATABASE IF EXISTS parley_template', 'CREATE DATABASE parley_template'];
  await administer(postgres.connectionString, ...anew);
  await migrate(patientAddress(`${server}/parley_template`));
  project.provide('databaseServer', server);
  return postgres.stop;
}

async function startServer(): Promise<{ connectionString: string; stop(): Promise<void> }> {
  const { TEST_DATABASE_URL: connectionString } = process.env;
  if (connectionString !== undefined) return { connectionString, stop: async () => {} };
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-test-'));
  const home = homeInMemory() ?? placeDatabase(dataDir).home;
  const postgres = await startEmbeddedPostgres({ dataDir, home, volatile: true, log: () => {} });
  return {
    connectionString: postgres.connectionString,
    async stop() {
      await postgres.stop();
      rmSync(home, { recursive: true, force: true });
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Null where there is no such folder, or little in it (containers often get 64 MB). */
function homeInMemory(): string | null {
  if (!existsSync(MEMORY)) return null;
  for (const name of readdirSync(MEMORY)) {
    const owner = OWN_NAME.exec(name)?.[1];
    if (owner !== undefined && !isAlive(Number(owner))) rmSync(join(MEMORY, name), { recursive: true, force: true });
  }
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize < ROOM_BYTES ? null : mkdtempSync(join(MEMORY, `parley-test-${process.pid}-`));
}

/** What a killed run left is removed by the next. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
