/**
 * The migrations that this program knows: plain SQL files, `NNNN_what.sql`. What their names and words mean besides:
 *
 * - `NNNN_contract_after_MMMM_what.sql` takes something away. Programs that know MMMM do without it; older ones do not
 *   start on a database that has it.
 * - A file that makes an index CONCURRENTLY has that one statement, and runs outside of a transaction.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CONTRACT = /^\d+_contract_after_(\d+)_/;
const CONCURRENT = /^create (?:unique )?index concurrently if not exists (\w+)/i;

/** The SQL files stay in `src/`; the compiler does not copy them to `dist/`. */
export function migrationsFolder(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return join(folder, 'src', 'store', 'migrations');
    if (folder === dirname(folder)) throw new Error('The migrations folder was not found beside the program.');
  }
}

/** Names without `.sql`, in order. */
export function knownMigrations(folder = migrationsFolder()): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.slice(0, -'.sql'.length))
    .toSorted();
}

/** Of those that the database has and this program does not know: what this program cannot do without. */
export function contractedAway(newer: readonly string[], known: readonly string[]): string[] {
  const newest = Math.max(0, ...known.map(numberOf));
  return newer.filter((name) => {
    const after = CONTRACT.exec(name)?.[1];
    return after !== undefined && Number(after) > newest;
  });
}

/** What a file does, to the letter: all that stands above `-- Down Migration`. */
export function upOf(path: string): string {
  const [up = ''] = readFileSync(path, 'utf8').split(/^\s*--[\s-]*down migration/im);
  return up.trim();
}

/** The same to be looked at, not to be run: without comments, and without what looks like one in a text. */
export function statementsOf(path: string): string {
  return upOf(path).replaceAll(/--.*$/gm, '').trim();
}

/** The index that the file makes beside running writes; null: it makes none so. */
export function concurrentIndexOf(path: string): string | null {
  return CONCURRENT.exec(statementsOf(path))?.[1] ?? null;
}

function numberOf(name: string): number {
  return Number.parseInt(name, 10);
}
