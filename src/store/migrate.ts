/** Brings a database to the newest schema: plain SQL files, in order, once, under an advisory lock. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openDatabase } from './database.ts';

const MIGRATIONS_TABLE = 'migrations';
const UNDEFINED_TABLE = '42P01';

/** The SQL files stay in `src/`; the compiler does not copy them to `dist/`. */
export function migrationsFolder(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return join(folder, 'src', 'store', 'migrations');
    if (folder === dirname(folder)) throw new Error('The migrations folder was not found beside the program.');
  }
}

/**
 * Rejects as the database does when it is away. A database that has them all is asked once, and the library that runs
 * them not read.
 */
export async function migrate(connectionString: string): Promise<void> {
  if (await hasAll(connectionString)) return;
  const { runner } = await import('node-pg-migrate');
  await runner({
    databaseUrl: connectionString,
    dir: migrationsFolder(),
    direction: 'up',
    migrationsTable: MIGRATIONS_TABLE,
    count: Number.POSITIVE_INFINITY,
    // Migrations only add, and branches that merge late have earlier numbers: what is missing is run, in order.
    checkOrder: false,
    // Two nodes that start together: the second waits and finds nothing to do.
    advisoryLockMode: 'wait',
    log: () => {},
  });
}

async function hasAll(connectionString: string): Promise<boolean> {
  const database = openDatabase({ connectionString, maxConnections: 1, onIdleError: () => {} });
  try {
    const rows = await database.query<{ name: string }>(`SELECT name FROM ${MIGRATIONS_TABLE}`);
    const run = new Set(rows.map(({ name }) => name));
    const files = readdirSync(migrationsFolder()).filter((file) => file.endsWith('.sql'));
    return files.every((file) => run.has(file.slice(0, -'.sql'.length)));
  } catch (error) {
    if ((error as { code?: unknown }).code === UNDEFINED_TABLE) return false;
    throw error;
  } finally {
    await database.close();
  }
}
