/**
 * What of a recording may lie on this node's disk besides the store: segments, a finished file on its way, what was set
 * aside. And the name of the disk itself, so that of several nodes each looks after its own. Control and the command
 * line use it; media writes those files.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

const DAY_MS = 86_400_000;
/** A stream begins on the day of its claim, or after midnight. */
const DAYS_AROUND = [-1, 0, 1, 2];

/**
 * Files that begin with the call's id, under the days around the time when its recording was
 * claimed. Returns how many there were.
 */
export async function removeLocalCopies(dataDir: string, callUuid: string, claimedAt: Date): Promise<number> {
  let removed = 0;
  for (const offset of DAYS_AROUND) {
    const folder = dayFolderOf(dataDir, new Date(claimedAt.getTime() + offset * DAY_MS));
    for (const name of await readdir(folder).catch(() => [])) {
      if (name !== callUuid && !name.startsWith(`${callUuid}.`)) continue;
      await rm(join(folder, name), { recursive: true, force: true });
      removed++;
    }
  }
  return removed;
}

export function dayFolderOf(dataDir: string, at: Date): string {
  return join(dataDir, 'recordings', at.toISOString().slice(0, 10));
}

/** The same for as long as the folder lives, wherever it is mounted. */
export function nodeIdOf(dataDir: string): string {
  const folder = join(dataDir, 'recordings');
  const path = join(folder, 'node-id');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(path, randomUUID(), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readFileSync(path, 'utf8').trim();
}
