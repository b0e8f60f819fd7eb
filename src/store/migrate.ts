/** Brings a database to the newest schema: plain SQL files, in order, once, under an advisory lock. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';

/** The SQL files stay in `src/`; the compiler does not copy them to `dist/`. */
export function migrationsFolder(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return join(folder, 'src', 'store', 'migrations');
    if (folder === dirname(folder)) throw new Error('The migrations folder was not found beside the program.');
  }
}

export async function migrate(connectionString: string): Promise<void> {
  await runner({
    databaseUrl: connectionString,
    dir: migrationsFolder(),
    direction: 'up',
    migrationsTable: 'migrations',
    count: Number.POSITIVE_INFINITY,
    // Migrations only add, and branches that merge late have earlier numbers: what is missing is run, in order.
    checkOrder: false,
    // Two nodes that start together: the second waits and finds nothing to do.
    advisoryLockMode: 'wait',
    log: () => {},
  });
}
