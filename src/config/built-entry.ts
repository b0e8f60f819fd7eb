/** Where a process's built entry lies. Asked from `dist/` or from the sources (tests), the answer is the same. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that holds `package.json`. */
export function packageRoot(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (folder === dirname(folder))
      throw new Error('No package.json above the program: the installation is incomplete.');
  }
}

/** Absolute path of `dist/<entry>`, for example `builtEntry('src/main.js')`. */
export function builtEntry(entry: string): string {
  const path = join(packageRoot(), 'dist', entry);
  if (!existsSync(path)) throw new Error(`${path} is missing: run \`npm run build\`.`);
  return path;
}
