/** A fresh, migrated database for one test file, on the run's shared PostgreSQL. */
import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { patientAddress } from '../../bench/harness/patience.ts';
import { openPatientDatabase } from '../../bench/harness/patient-database.ts';
import type { Database } from '../../src/store/database.ts';
import { administer } from './admin-database.ts';

export interface TestDatabase {
  connectionString: string;
  close(): Promise<void>;
}

/** `template`: what it is a copy of; default the migrated one. */
export async function createTestDatabase(template = 'parley_template'): Promise<TestDatabase> {
  const server = inject('databaseServer');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const run = (sql: string): Promise<void> => administer(`${server}/parley`, sql);
  await run(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  return {
    connectionString: patientAddress(`${server}/${name}`),
    close: () => run(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

export interface OpenTestDatabase extends TestDatabase {
  database: Database;
}

/** With connections to it, which `close` ends first. */
export async function openTestDatabase(
  options: { maxConnections?: number; template?: string } = {},
): Promise<OpenTestDatabase> {
  const { template, maxConnections = 10 } = options;
  const made = await createTestDatabase(template);
  const database = openPatientDatabase(made.connectionString, maxConnections);
  return {
    ...made,
    database,
    async close() {
      await database.close();
      await made.close();
    },
  };
}
