/**
 * CMU Flite (a WASI command) run in memory: the 13 imports that it uses, no files, no `node:wasi`. Called by the speech thread
 * only: speaking blocks for 5 to 100 ms. One instance speaks one text and is thrown away, since a command runs once.
 *
 *   fd 0  the text          fd 1  what it prints, if asked to
 *   fd 3  a pretended root folder          fd 4  the WAV file: 44 header bytes, then the samples
 *
 * Flite opens the file anew for each sentence, reads the header back, appends, and patches three words of the header. So the
 * header is kept, and all that is written behind byte 44 goes to `onPcm` at once.
 */
const HEADER_BYTES = 44;
const TEXT_FD = 0;
const PRINT_FD = 1;
const ROOT_FD = 3;
const WAV_FD = 4;
const SUCCESS = 0;
const BAD_FD = 8;
const NOT_SEEKABLE = 70;
const CHARACTER_DEVICE = 2;
const DIRECTORY = 3;
const REGULAR_FILE = 4;
const SEEK_CURRENT = 1;
const EVERY_RIGHT = 0xffff_ffff_ffff_ffffn;

/** Thrown through WebAssembly by `proc_exit`, and caught by `speak`. */
class Exit {
  readonly code: number;
  constructor(code: number) {
    this.code = code;
  }
}

export interface FliteOptions {
  options: readonly string[];
  /** A view that is valid during the callback. */
  onPrinted: (bytes: Uint8Array) => void;
}

export class FliteInstance {
  readonly #memory: WebAssembly.Memory;
  readonly #start: () => void;
  #view: DataView;
  #arguments: Uint8Array[] = [];
  #text: Uint8Array = new Uint8Array(0);
  #textRead = 0;
  #wavOffset = 0;
  readonly #header = new Uint8Array(HEADER_BYTES);
  #onPcm: (bytes: Uint8Array) => void = () => {};
  #onPrinted: ((bytes: Uint8Array) => void) | null = null;

  /** 7 ms and 17 to 21 MB each. `module` is the compiled `flite.wasm`. */
  constructor(module: WebAssembly.Module) {
    const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: this.#imports() });
    this.#memory = instance.exports['memory'] as WebAssembly.Memory;
    this.#start = instance.exports['_start'] as () => void;
    this.#view = new DataView(this.#memory.buffer);
  }

  /**
   * Speaks once. `onPcm` gets 16-bit little-endian mono samples at 16 kHz sentence by sentence, as a view into the
   * instance's memory that is valid during the callback. Throws when Flite traps or exits with a code. `asked` adds
   * options of Flite's own (`-psdur`) and takes what it prints.
   */
  speak(voice: string, text: string, onPcm: (bytes: Uint8Array) => void, asked?: FliteOptions): void {
    const encoder = new TextEncoder();
    const options = ['flite', '-voice', voice, '-f', '-', '-o', '/o.wav', ...(asked?.options ?? [])];
    this.#arguments = options.map((word) => encoder.encode(`${word}\0`));
    this.#text = encoder.encode(text);
    this.#onPcm = onPcm;
    this.#onPrinted = asked?.onPrinted ?? null;
    try {
      this.#start();
    } catch (error) {
      if (!(error instanceof Exit)) throw error;
      if (error.code !== 0) throw new Error(`Flite left with code ${error.code}`);
    }
  }

  /** A memory that grew has a new buffer. */
  #current(): DataView {
    if (this.#view.buffer !== this.#memory.buffer) this.#view = new DataView(this.#memory.buffer);
    return this.#view;
  }

  #imports(): Record<string, (...parameters: number[]) => number> {
    return {
      args_sizes_get: (count, sizeBytes) => {
        const view = this.#current();
        view.setUint32(count!, this.#arguments.length, true);
        view.setUint32(
          sizeBytes!,
          this.#arguments.reduce((sum, word) => sum + word.length, 0),
          true,
        );
        return SUCCESS;
      },
      args_get: (pointers, words) => {
        const view = this.#current();
        let at = words!;
        this.#arguments.forEach((word, i) => {
          view.setUint32(pointers! + i * 4, at, true);
          new Uint8Array(view.buffer, at, word.length).set(word);
          at += word.length;
        });
        return SUCCESS;
      },
      clock_time_get: (_clock, _precision, out) => {
        this.#current().setBigUint64(out!, 0n, true);
        return SUCCESS;
      },
      fd_close: () => SUCCESS,
      fd_fdstat_set_flags: () => SUCCESS,
      fd_fdstat_get: (fd, out) => {
        const view = this.#current();
        view.setUint16(out!, fd === ROOT_FD ? DIRECTORY : fd === WAV_FD ? REGULAR_FILE : CHARACTER_DEVICE, true);
        view.setUint16(out! + 2, 0, true);
        view.setBigUint64(out! + 8, EVERY_RIGHT, true);
        view.setBigUint64(out! + 16, EVERY_RIGHT, true);
        return SUCCESS;
      },
      fd_prestat_get: (fd, out) => {
        if (fd !== ROOT_FD) return BAD_FD;
        const view = this.#current();
        view.setUint32(out!, 0, true);
        view.setUint32(out! + 4, 1, true);
        return SUCCESS;
      },
      fd_prestat_dir_name: (_fd, out) => {
        this.#current().setUint8(out!, '/'.charCodeAt(0));
        return SUCCESS;
      },
      path_open: (_fd, _lookUp, _path, _pathBytes, _flags, _rights, _inherited, _fdFlags, out) => {
        this.#wavOffset = 0;
        this.#current().setUint32(out!, WAV_FD, true);
        return SUCCESS;
      },
      fd_read: (fd, vectors, count, out) => this.#read(fd!, vectors!, count!, out!),
      fd_write: (fd, vectors, count, out) => this.#write(fd!, vectors!, count!, out!),
      // The offset is an i64, which arrives as a BigInt.
      fd_seek: (fd, offset, whence, out) => {
        if (fd !== WAV_FD) return NOT_SEEKABLE;
        this.#wavOffset = Number(offset) + (whence === SEEK_CURRENT ? this.#wavOffset : 0);
        this.#current().setBigUint64(out!, BigInt(this.#wavOffset), true);
        return SUCCESS;
      },
      proc_exit: (code) => {
        throw new Exit(code!);
      },
    };
  }

  #read(fd: number, vectors: number, count: number, out: number): number {
    const view = this.#current();
    const source = fd === TEXT_FD ? this.#text : this.#header;
    let from = fd === TEXT_FD ? this.#textRead : this.#wavOffset;
    const started = from;
    for (let i = 0; i < count; i++) {
      const part = source.subarray(from, from + view.getUint32(vectors + i * 8 + 4, true));
      new Uint8Array(view.buffer, view.getUint32(vectors + i * 8, true), part.length).set(part);
      from += part.length;
    }
    if (fd === TEXT_FD) this.#textRead = from;
    else this.#wavOffset = from;
    view.setUint32(out, from - started, true);
    return SUCCESS;
  }

  #write(fd: number, vectors: number, count: number, out: number): number {
    const view = this.#current();
    let written = 0;
    for (let i = 0; i < count; i++) {
      const lengthBytes = view.getUint32(vectors + i * 8 + 4, true);
      written += lengthBytes;
      if (lengthBytes === 0) continue;
      const bytes = new Uint8Array(view.buffer, view.getUint32(vectors + i * 8, true), lengthBytes);
      if (fd === PRINT_FD) this.#onPrinted?.(bytes);
      if (fd !== WAV_FD) continue;
      const headerPart = Math.max(0, Math.min(lengthBytes, HEADER_BYTES - this.#wavOffset));
      if (headerPart > 0) this.#header.set(bytes.subarray(0, headerPart), this.#wavOffset);
      if (headerPart < lengthBytes) this.#onPcm(bytes.subarray(headerPart));
      this.#wavOffset += lengthBytes;
    }
    view.setUint32(out, written, true);
    return SUCCESS;
  }
}
