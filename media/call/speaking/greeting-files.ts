/**
 * The folder of kept speech, for the greeting cache: a sealed file a speech, written to a temporary file and renamed, so that other threads
 * see it whole or not at all. Bounded in number and bytes; the longest unused go.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Clock } from '../../contract/clock.ts';

const MOST_ON_DISK = 1_000;
const MOST_DISK_BYTES = 256 * 1024 * 1024;
const PRUNE_EVERY_WRITES = 64;
const SUFFIX = '.speech';

/** Where speech is kept beyond this thread's memory. Keys are hex digests. */
export interface SpeechStore {
  /** True when this key was seen or written here; others may have removed it since. */
  knows(key: string): boolean;
  /** Null: it is not there, or cannot be read. Never rejects. */
  read(key: string): Promise<Buffer | null>;
  /** Marks it as used now. Never rejects. */
  touch(key: string): Promise<void>;
  /** Rejects when it cannot be written. */
  write(key: string, sealed: Buffer): Promise<void>;
}

/** Of speech that is nobody else's: memory alone has it. */
export class NothingKept implements SpeechStore {
  knows(): boolean {
    return false;
  }

  read(): Promise<null> {
    return Promise.resolve(null);
  }

  touch(): Promise<void> {
    return Promise.resolve();
  }

  write(): Promise<void> {
    return Promise.resolve();
  }
}

export class GreetingFiles implements SpeechStore {
  readonly #directory: string;
  readonly #clock: Clock;
  readonly #mostBytes: number;
  /** Keys of files that were seen, or written here; what other threads removed goes when this one prunes. */
  #onDisk = new Set<string>();
  #writes = 0;

  constructor(directory: string, clock: Clock, mostBytes = MOST_DISK_BYTES) {
    this.#directory = directory;
    this.#clock = clock;
    this.#mostBytes = mostBytes;
    readdir(directory).then(
      (names) => {
        for (const name of names) if (name.endsWith(SUFFIX)) this.#onDisk.add(name.slice(0, -SUFFIX.length));
      },
      () => {},
    );
  }

  knows(key: string): boolean {
    return this.#onDisk.has(key);
  }

  read(key: string): Promise<Buffer | null> {
    return readFile(this.#pathOf(key)).catch(() => null);
  }

  async touch(key: string): Promise<void> {
    const now = new Date(this.#clock.epochMs());
    // A folder that cannot be written costs the speech nothing.
    await utimes(this.#pathOf(key), now, now).catch(() => {});
  }

  async write(key: string, sealed: Buffer): Promise<void> {
    const temporary = join(this.#directory, `.${key}.${randomUUID()}.tmp`);
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    try {
      await writeFile(temporary, sealed, { mode: 0o600 });
      await rename(temporary, this.#pathOf(key));
      this.#onDisk.add(key);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    if (this.#writes++ % PRUNE_EVERY_WRITES === 0) await this.#prune();
  }

  #pathOf(key: string): string {
    return join(this.#directory, key + SUFFIX);
  }

  async #prune(): Promise<void> {
    const names = (await readdir(this.#directory)).filter((name) => name.endsWith(SUFFIX));
    this.#onDisk = new Set(names.map((name) => basename(name, SUFFIX)));
    const aged: { path: string; bytes: number; usedAtEpochMs: number }[] = [];
    for (const name of names) {
      const path = join(this.#directory, name);
      const found = await stat(path).catch(() => null);
      if (found !== null) aged.push({ path, bytes: found.size, usedAtEpochMs: found.mtimeMs });
    }
    aged.sort((a, b) => b.usedAtEpochMs - a.usedAtEpochMs);
    let bytes = 0;
    for (const [at, file] of aged.entries()) {
      bytes += file.bytes;
      if (at < MOST_ON_DISK && bytes <= this.#mostBytes) continue;
      await rm(file.path, { force: true });
      this.#onDisk.delete(basename(file.path, SUFFIX));
    }
  }
}
