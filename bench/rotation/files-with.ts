/** Files below these folders in which one of these texts stands. Files that go away meanwhile are passed over. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export async function filesWith(folders: readonly string[], texts: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const folder of folders) {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
    for (const entry of entries.filter((one) => one.isFile())) {
      const path = join(entry.parentPath, entry.name);
      const content = await readFile(path).catch(() => null);
      if (texts.some((text) => content?.includes(text) === true)) found.push(path);
    }
  }
  return found;
}
