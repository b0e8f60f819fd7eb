/**
 * Makes a folder with those above it. Used for what a run writes; not by Node's own `recursive`, which never comes back
 * where the file system says that a folder is not there however often it was made (`/proc`).
 */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Throws as `mkdirSync` does. */
export function makeFolder(path: string): void {
  const missing: string[] = [];
  for (let at = resolve(path); !existsSync(at); at = dirname(at)) missing.unshift(at);
  for (const folder of missing) mkdirSync(folder);
}
