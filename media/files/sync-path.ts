/** For whoever tells others that a file is safe: the recorder of a finished one, the store of one that it took. */
import { open } from 'node:fs/promises';

/** Resolves when the file, or the folder with its names, is on the disk. Rejects with the file system's fault. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
