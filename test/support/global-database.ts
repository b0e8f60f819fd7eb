/**
 * Vitest global setup: one embedded PostgreSQL for the whole test run, with a migrated template that tests copy. With
 * TEST_DATABASE_URL (a superuser's, of a database `parley`) it is that server's, of any version, one run at a time.
 */
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
  const postgres = await startServer();
  const server = postgres.connectionString.replace(/\/[^/]*$/, '');
  const admin = openDatabase({ connectionString: postgres.connectionString, maxConnections: 1, onIdleError: () => {} });
  await admin.query('DROP DATABASE IF EXISTS parley_template');
  await admin.query('CREATE DATABASE parley_template');
  await admin.close();
  await migrate(`${server}/parley_template`);
  project.provide('databaseServer', server);
  return postgres.stop;
}

async function startServer(): Promise<{ connectionString: string; stop(): Promise<void> }> {
  const { TEST_DATABASE_URL: connectionString } = process.env;
  if (connectionString !== undefined) return { connectionString, stop: async () => {} };
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-test-'));
  const postgres = await startEmbeddedPostgres({ dataDir, volatile: true, log: () => {} });
  return {
    connectionString: postgres.connectionString,
    async stop() {
      await postgres.stop();
      rmSync(placeDatabase(dataDir).home, { recursive: true, force: true });
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
