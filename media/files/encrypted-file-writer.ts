/**
 * Writes one finished encrypted file from pieces of any size, in chunks of 64 KiB. Used by the recorder for a finished
 * recording and by the renderer for other forms of it. It does not sync and does not close what it was given.
 */
import { createFileCipher, ENCRYPTED_HEADER_BYTES, FILE_CHUNK_BYTES, type FileCipher } from './encrypted-file.ts';

/** `fs.writeSync` in use; tests pass a full disk. */
export type WriteAt = (fd: number, bytes: Uint8Array, start: number, lengthBytes: number, position: number) => number;

/** Writes until all is written: a disk may take less than it was given. Throws what the disk throws. */
export function writeFully(
  write: WriteAt,
  fd: number,
  bytes: Uint8Array,
  start: number,
  lengthBytes: number,
  position: number,
): void {
  let done = 0;
  while (done < lengthBytes) {
    const wrote = write(fd, bytes, start + done, lengthBytes - done, position + done);
    if (wrote <= 0) throw new Error(`the disk took no more than ${done} of ${lengthBytes} bytes`);
    done += wrote;
  }
}

export class EncryptedFileWriter {
  readonly #write: WriteAt;
  readonly #fd: number;
  readonly #cipher: FileCipher;
  readonly #held = new Uint8Array(FILE_CHUNK_BYTES);
  #heldBytes = 0;
  #chunk = 0;
  #position = ENCRYPTED_HEADER_BYTES;

  constructor(dataKey: Uint8Array, fd: number, write: WriteAt) {
    this.#fd = fd;
    this.#write = write;
    this.#cipher = createFileCipher(dataKey, { chunkBytes: FILE_CHUNK_BYTES, sound: null });
    writeFully(write, fd, this.#cipher.header, 0, ENCRYPTED_HEADER_BYTES, 0);
  }

  add(bytes: Uint8Array): void {
    let taken = 0;
    while (taken < bytes.length) {
      // Only when more comes: the last chunk has to be known as the last.
      if (this.#heldBytes === FILE_CHUNK_BYTES) this.#put(false);
      const piece = Math.min(bytes.length - taken, FILE_CHUNK_BYTES - this.#heldBytes);
      this.#held.set(bytes.subarray(taken, taken + piece), this.#heldBytes);
      this.#heldBytes += piece;
      taken += piece;
    }
  }

  /** Returns the size of the encrypted file. */
  finish(): number {
    this.#put(true);
    return this.#position;
  }

  #put(isLast: boolean): void {
    const encrypted = this.#cipher.encrypt(this.#chunk++, this.#held.subarray(0, this.#heldBytes), isLast);
    writeFully(this.#write, this.#fd, encrypted, 0, encrypted.length, this.#position);
    this.#position += encrypted.length;
    this.#heldBytes = 0;
  }
}
