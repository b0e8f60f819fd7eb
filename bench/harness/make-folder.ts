/**
 * Makes a folder with those above it. Used for what a run writes; not by Node's own `recursive`, which never comes back
 * where the file system says that a folder is not there however often it was made (`/proc`).
 */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Throws as `mkdirSync` does; not where somebody else has made it meanwhile. `isThere`: for tests of that. */
export function makeFolder(path: string, isThere: (path: string) => boolean = existsSync): void {
  const missing: string[] = [];
  for (let at = resolve(path); !isThere(at); at = dirname(at)) missing.unshift(at);
  for (const folder of missing) {
    try {
      mkdirSync(folder);
    } catch (error) {
      if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
    }
  }
}
