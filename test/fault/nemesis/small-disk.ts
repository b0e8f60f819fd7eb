/**
 * A folder on a small file system of its own, which can be filled: that of a database, before there is one. Root on
 * Linux. Used by the nemesis.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

export interface SmallDisk {
  /** Nothing fits on it for so long. */
  fullFor(ms: number): Promise<void>;
  unmount(): void;
}

const BALLAST_BLOCK = Buffer.alloc(64 * 1024);
/** What is freed in between is taken again. */
const FILL_EVERY_MS = 500;

export function mountSmallDisk(folder: string, megabytes: number): SmallDisk {
  mkdirSync(folder, { recursive: true });
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder]);
  const ballast = join(folder, 'ballast');
  return {
    async fullFor(ms) {
      for (const untilMs = performance.now() + ms; performance.now() < untilMs; await wait(FILL_EVERY_MS))
        fill(ballast);
      rmSync(ballast);
    },
    unmount() {
      execFileSync('umount', ['-l', folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function fill(path: string): void {
  const file = openSync(path, 'a');
  try {
    for (let length = BALLAST_BLOCK.length; length > 0; ) {
      try {
        writeSync(file, BALLAST_BLOCK, 0, length);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        length = Math.floor(length / 2);
      }
    }
  } finally {
    closeSync(file);
  }
}
