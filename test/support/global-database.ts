/** Vitest global setup: one embedded PostgreSQL for the whole test run, with a migrated template that tests copy. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { openDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { startEmbeddedPostgres } from '../../src/supervisor/postgres/embedded-postgres.ts';
import { placeDatabase } from '../../src/supervisor/postgres/placement.ts';

declare module 'vitest' {
  interface ProvidedContext {
    databaseServer: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-test-'));
  const postgres = await startEmbeddedPostgres({ dataDir, volatile: true, log: () => {} });
  const server = postgres.connectionString.replace(/\/[^/]*$/, '');
  const admin = openDatabase({ connectionString: postgres.connectionString, maxConnections: 1, onIdleError: () => {} });
  await admin.query('CREATE DATABASE parley_template');
  await admin.close();
  await migrate(`${server}/parley_template`);
  project.provide('databaseServer', server);
  return async () => {
    await postgres.stop();
    rmSync(placeDatabase(dataDir).home, { recursive: true, force: true });
    rmSync(dataDir, { recursive: true, force: true });
  };
}
