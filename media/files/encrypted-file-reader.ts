/**
 * Reads any range of a finished encrypted file, whatever holds it: a disk, an object store, memory. Called by control
 * for downloads and verification, by the recorder to read back what it wrote. Damage is an error that says where;
 * nothing unverified is handed on.
 */
import {
  chunkCountOf,
  chunkStartOf,
  ENCRYPTED_HEADER_BYTES,
  EncryptedFileBroken,
  type FileCipher,
  openFileCipher,
  plainBytesOf,
} from './encrypted-file.ts';

/** Bytes `[start, end)` of the encrypted file; fewer are an error of the source. */
export type ReadRange = (start: number, end: number) => Promise<Uint8Array>;

/** Read from the source at a time: 1 MiB keeps an object store's round trips few. */
const CHUNKS_A_READ = 16;

export class EncryptedFileReader {
  readonly plainBytes: number;
  readonly #cipher: FileCipher;
  readonly #read: ReadRange;
  readonly #fileBytes: number;
  readonly #chunks: number;

  private constructor(cipher: FileCipher, read: ReadRange, fileBytes: number) {
    this.#cipher = cipher;
    this.#read = read;
    this.#fileBytes = fileBytes;
    this.#chunks = chunkCountOf(fileBytes, cipher.chunkBytes);
    this.plainBytes = plainBytesOf(fileBytes, cipher.chunkBytes);
  }

  /** Rejects with `EncryptedFileBroken`, or as `read` does. */
  static async open(dataKey: Uint8Array, fileBytes: number, read: ReadRange): Promise<EncryptedFileReader> {
    if (fileBytes <= ENCRYPTED_HEADER_BYTES)
      throw new EncryptedFileBroken(`the sealed file holds only ${fileBytes} bytes`);
    return new EncryptedFileReader(openFileCipher(dataKey, await read(0, ENCRYPTED_HEADER_BYTES)), read, fileBytes);
  }

  /**
   * Bytes `[start, end)` of what is encrypted, in pieces. Rejects with `EncryptedFileBroken` at the first chunk that
   * does not open.
   */
  async *range(start: number, end: number): AsyncGenerator<Buffer, void, undefined> {
    const { chunkBytes } = this.#cipher;
    const last = Math.ceil(end / chunkBytes);
    for (let first = Math.floor(start / chunkBytes); first < last; first += CHUNKS_A_READ) {
      const until = Math.min(first + CHUNKS_A_READ, last);
      const from = chunkStartOf(first, chunkBytes);
      const encrypted = await this.#read(from, Math.min(chunkStartOf(until, chunkBytes), this.#fileBytes));
      for (let chunk = first; chunk < until; chunk++) {
        const at = chunkStartOf(chunk, chunkBytes) - from;
        const bytes = encrypted.subarray(at, chunkStartOf(chunk + 1, chunkBytes) - from);
        const plain = this.#cipher.decrypt(chunk, bytes, chunk === this.#chunks - 1);
        if (plain === null) throw new EncryptedFileBroken(`chunk ${chunk} of ${this.#chunks} is damaged or cut off`);
        const skip = Math.max(0, start - chunk * chunkBytes);
        const take = Math.min(plain.length, end - chunk * chunkBytes);
        if (take > skip) yield plain.subarray(skip, take);
      }
    }
  }

  /** All of it, in pieces; an empty file is one that opens. */
  async *all(): AsyncGenerator<Buffer, void, undefined> {
    yield* this.range(0, Math.max(1, this.plainBytes));
  }
}
