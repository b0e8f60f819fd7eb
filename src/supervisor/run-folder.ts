/**
 * The folder of the local sockets, made anew at each start for its owner alone. Called by
 * `service.ts`, which removes it.
 */
import { chmodSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A socket's path may have 107 bytes; ours adds `link.sock` or `api.sock` to the folder's. */
const MOST_PATH_BYTES = 95;

/**
 * In the temporary folder, because the data folder's path may be too long; there, where nothing else may be written.
 */
export function makeRunFolder(dataDir: string, temporary: string = tmpdir()): string {
  let folder: string;
  try {
    folder = mkdtempSync(join(temporary, 'parley-'));
  } catch (error) {
    const parent = join(dataDir, 'run');
    mkdirSync(parent, { recursive: true, mode: 0o700 });
    folder = mkdtempSync(join(parent, 'parley-'));
    if (Buffer.byteLength(folder) > MOST_PATH_BYTES) {
      const { code } = error as NodeJS.ErrnoException;
      throw new Error(
        `${temporary} cannot be written (${code}), and ${parent} is too long for a socket: set TMPDIR to a folder that this user may write.`,
      );
    }
  }
  chmodSync(folder, 0o700);
  return folder;
}
