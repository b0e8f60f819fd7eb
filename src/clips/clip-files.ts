/**
 * Where the sound of clips lies: encrypted in the store of recordings under `clips/`, and encrypted on this machine's
 * disk, from where media reads it (`clips/<id>.sealed` in the data folder; beside it what media has rendered of it,
 * `<id>.<format>.sealed`).
 */
import { createHash, randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EncryptedFileReader } from '../../media/files/encrypted-file-reader.ts';
import { EncryptedFileWriter } from '../../media/files/encrypted-file-writer.ts';
import { compareEncrypted } from '../recordings/compare-encrypted.ts';
import type { Stores } from '../recordings/open-stores.ts';
import type { StoreKind } from '../recordings/recording-store.ts';

export interface StoredSound {
  store: StoreKind;
  objectKey: string;
  encryptedBytes: number;
  sha256: string;
}

type Place = Pick<StoredSound, 'store' | 'objectKey'> & { id: string };

export interface ClipFiles {
  /** Seals and stores it, and reads it back. Rejects with a `StoreFault`; nothing is left then. */
  put(workspaceId: string, id: string, wav: Uint8Array, dataKey: Buffer): Promise<StoredSound>;
  /** The path of the encrypted file on this machine, fetched from the store if need be. Rejects with a `StoreFault`. */
  local(place: Place & { encryptedBytes: number }): Promise<string>;
  /** The WAV in pieces. Rejects with a `StoreFault` or an `EncryptedFileBroken`. */
  sound(place: Place & { encryptedBytes: number }, dataKey: Buffer): AsyncGenerator<Buffer, void, undefined>;
  /** Here and in the store, what media rendered too. Rejects with a `StoreFault`. */
  remove(place: Place): Promise<void>;
}

/** `dataDir` is absolute. */
export function createClipFiles(stores: Stores, dataDir: string): ClipFiles {
  const folder = join(dataDir, 'clips');
  const pathOf = (id: string): string => join(folder, `${id}.sealed`);
  const fetching = new Map<string, Promise<string>>();

  async function fetched({ id, store, objectKey, encryptedBytes }: Parameters<ClipFiles['local']>[0]): Promise<string> {
    const path = pathOf(id);
    if ((await stat(path).catch(() => null))?.size === encryptedBytes) return path;
    const bytes = await stores.of(store).read(objectKey, 0, encryptedBytes);
    const temporary = join(folder, `.${randomUUID()}.part`);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    try {
      await writeFile(temporary, bytes, { mode: 0o600 });
      await rename(temporary, path);
    } finally {
      await rm(temporary, { force: true });
    }
    return path;
  }

  async function removeLocal(id: string): Promise<void> {
    for (const name of await readdir(folder).catch(() => [])) {
      if (name.startsWith(`${id}.`)) await rm(join(folder, name), { force: true });
    }
  }

  return {
    async put(workspaceId, id, wav, dataKey) {
      const store = stores.current;
      const objectKey = `clips/${workspaceId}/${id}.sealed`;
      const sha256 = createHash('sha256').update(wav).digest('hex');
      await mkdir(folder, { recursive: true, mode: 0o700 });
      try {
        const encryptedBytes = encryptInto(pathOf(id), dataKey, wav);
        await store.put(objectKey, pathOf(id));
        await compareEncrypted({ sizeBytes: wav.length, sha256 }, dataKey, encryptedBytes, (start, end) =>
          store.read(objectKey, start, end),
        );
        return { store: store.kind, objectKey, encryptedBytes, sha256 };
      } catch (error) {
        await removeLocal(id);
        await store.remove(objectKey).catch(() => {});
        throw error;
      }
    },
    local(place) {
      const running = fetching.get(place.id) ?? fetched(place).finally(() => fetching.delete(place.id));
      fetching.set(place.id, running);
      return running;
    },
    async *sound({ store, objectKey, encryptedBytes }, dataKey) {
      const source = stores.of(store);
      const encrypted = await EncryptedFileReader.open(dataKey, encryptedBytes, (start, end) =>
        source.read(objectKey, start, end),
      );
      yield* encrypted.all();
    },
    async remove({ id, store, objectKey }) {
      await removeLocal(id);
      await stores.of(store).remove(objectKey);
    },
  };
}

function encryptInto(path: string, dataKey: Buffer, plain: Uint8Array): number {
  const fd = openSync(path, 'w', 0o600);
  try {
    const encrypted = new EncryptedFileWriter(dataKey, fd, writeSync);
    encrypted.add(plain);
    const encryptedBytes = encrypted.finish();
    fsyncSync(fd);
    return encryptedBytes;
  } finally {
    closeSync(fd);
  }
}
