/**
 * The default `RecordingStore`: a folder on a disk. A file is copied beside its place, synced, and renamed, so that a
 * name is never half a file.
 */
import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { syncPath } from '../../media/files/sync-path.ts';
import { assertObjectName, type RecordingStore, StoreFault } from './recording-store.ts';

/** `folder` is absolute; it is made when the first recording comes. */
export function createDiskStore(folder: string): RecordingStore {
  const pathOf = (key: string): string => {
    assertObjectName(key);
    return join(folder, ...key.split('/'));
  };
  return {
    kind: 'disk',
    place: folder,
    async put(key, source) {
      const path = pathOf(key);
      const temporary = join(dirname(path), `.${randomUUID()}.part`);
      try {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        await copyFile(source, temporary);
        await syncPath(temporary);
        await rename(temporary, path);
        await syncPath(dirname(path));
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => {});
        throw faultOf('was not stored', path, error);
      }
    },
    async size(key) {
      const path = pathOf(key);
      try {
        return (await stat(path)).size;
      } catch (error) {
        if (isMissing(error)) return null;
        throw faultOf('cannot be looked at', path, error);
      }
    },
    async read(key, start, end) {
      const path = pathOf(key);
      try {
        const file = await open(path, 'r');
        try {
          const bytes = new Uint8Array(end - start);
          const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
          if (bytesRead < bytes.length) throw new Error(`it ends after ${start + bytesRead} bytes`);
          return bytes;
        } finally {
          await file.close();
        }
      } catch (error) {
        throw faultOf('cannot be read', path, error);
      }
    },
    async remove(key) {
      const path = pathOf(key);
      const was = (await this.size(key)) !== null;
      try {
        await rm(path, { force: true });
      } catch (error) {
        throw faultOf('cannot be removed', path, error);
      }
      // The call's own folder, when this was its last file.
      await rmdir(dirname(path)).catch(() => {});
      return was;
    },
    async list(prefix) {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
        if (isMissing(error)) return [];
        throw faultOf('cannot be listed', folder, error);
      });
      return entries
        .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
        .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
        .filter((key) => key.startsWith(prefix))
        .toSorted();
    },
    async close() {},
  };
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function faultOf(what: string, path: string, error: unknown): StoreFault {
  const { code, message } = error as NodeJS.ErrnoException;
  const way = code === 'ENOSPC' ? '; make room on its disk' : '';
  return new StoreFault(`a recording ${what} on disk (${path}): ${code ?? message}${way}`, { cause: error });
}
