/**
 * A running recording on disk: one folder a call, in it encrypted files of 10 s of interleaved stereo in the leg's
 * codec, a chunk for each block of the time line (`000000.sealed`, `000001.sealed`, …). Each block is appended as it
 * comes: what was given to the system outlives the process, so its death loses what was not yet appended (under a
 * second), a power cut at most the segment that was not yet synced (10 s) as well. A chunk that was cut in the middle
 * is left out, every earlier one reads. A block that comes again, and a recorder that goes on with a folder, begin a
 * new segment: no chunk's number is used twice, and where segments overlap the later one holds. The file `owner` names
 * who writes; nothing in a folder says who was called.
 */
import {
  close,
  closeSync,
  fsync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type LegFormat, silenceByteOf } from '../contract/audio-format.ts';
import {
  CHUNK_TAG_BYTES,
  chunkCountOf,
  chunkStartOf,
  createFileCipher,
  ENCRYPTED_HEADER_BYTES,
  type FileCipher,
  openFileCipher,
} from '../files/encrypted-file.ts';
import { type WriteAt, writeFully } from '../files/encrypted-file-writer.ts';
import { BLOCK_MS } from './timeline.ts';

const SEGMENT_CHUNKS = 10_000 / BLOCK_MS;
const SEGMENT_NAME = /^(\d{6})\.sealed$/;
const OWNER_NAME = 'owner';

export interface Segment {
  path: string;
  cipher: FileCipher;
  /** Where in the recording it begins. */
  firstSample: number;
  /** Whole samples of both channels that can be read, the damaged ones before the last good one counted. */
  samples: number;
}

/** Bytes of one sample of both channels. */
export function instantBytesOf(format: LegFormat): number {
  return format.codec === 'mulaw' ? 2 : 4;
}

export interface SegmentPlace {
  folder: string;
  format: LegFormat;
  owner: string;
  dataKey: Uint8Array;
  /** Above 0: goes on after what the folder already holds. */
  firstSample: number;
}

export class SegmentWriter {
  readonly #place: SegmentPlace;
  readonly #write: WriteAt;
  readonly #onSyncError: (error: Error) => void;
  readonly #instantBytes: number;
  readonly #chunkBytes: number;
  #cipher: FileCipher | null = null;
  #fd = -1;
  #nextSegment: number;
  #nextSample: number;
  #chunk = 0;
  #position = 0;

  /** Creates the folder and its parents. */
  constructor(place: SegmentPlace, write: WriteAt, onSyncError: (error: Error) => void) {
    this.#place = place;
    this.#write = write;
    this.#onSyncError = onSyncError;
    this.#instantBytes = instantBytesOf(place.format);
    this.#chunkBytes = (place.format.rateHz / 1000) * BLOCK_MS * this.#instantBytes;
    this.#nextSample = place.firstSample;
    mkdirSync(place.folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(place.folder, OWNER_NAME), place.owner, { mode: 0o600 });
    this.#nextSegment = 1 + Math.max(-1, ...segmentNumbersIn(place.folder));
  }

  /**
   * Appends one block, of which only a recording's last may be short, at `firstSample`. Throws what the disk throws;
   * the writer is of no more use then.
   */
  append(bytes: Uint8Array, start: number, lengthBytes: number, firstSample: number): void {
    if (firstSample !== this.#nextSample) this.close();
    this.#nextSample = firstSample;
    if (this.#cipher === null) this.#openSegment();
    const encrypted = this.#cipher!.encrypt(this.#chunk++, bytes.subarray(start, start + lengthBytes));
    writeFully(this.#write, this.#fd, encrypted, 0, encrypted.length, this.#position);
    this.#position += encrypted.length;
    this.#nextSample += lengthBytes / this.#instantBytes;
    // Only the last chunk of a segment may be short.
    if (this.#chunk === SEGMENT_CHUNKS || lengthBytes < this.#chunkBytes) this.close();
  }

  /** Syncs and closes the open segment in the background. Idempotent. */
  close(): void {
    const fd = this.#fd;
    if (fd === -1) return;
    this.#fd = -1;
    this.#cipher = null;
    fsync(fd, (syncError) => {
      close(fd, (closeError) => {
        const error = syncError ?? closeError ?? null;
        if (error !== null) this.#onSyncError(error);
      });
    });
  }

  #openSegment(): void {
    const { folder, format, dataKey } = this.#place;
    const path = join(folder, `${String(this.#nextSegment++).padStart(6, '0')}.sealed`);
    this.#fd = openSync(path, 'w', 0o600);
    const sound = { format, firstSample: this.#nextSample };
    this.#cipher = createFileCipher(dataKey, { chunkBytes: this.#chunkBytes, sound });
    this.#chunk = 0;
    this.#position = ENCRYPTED_HEADER_BYTES;
    writeFully(this.#write, this.#fd, this.#cipher.header, 0, ENCRYPTED_HEADER_BYTES, 0);
  }
}

/** Who wrote the folder's segments, or null when it does not say. */
export function readOwner(folder: string): string | null {
  try {
    return readFileSync(join(folder, OWNER_NAME), 'utf8');
  } catch {
    return null;
  }
}

/**
 * The folder's segments in order, and their format; null when none holds a header that fits the key. A segment whose
 * header is damaged or differs from the others' is left out: its seconds become silence.
 */
export function listSegments(
  folder: string,
  dataKey: Uint8Array,
): { format: LegFormat; segments: Segment[]; totalSamples: number } | null {
  let format: LegFormat | null = null;
  const segments: Segment[] = [];
  let totalSamples = 0;
  for (const name of readdirSync(folder).sort()) {
    if (!SEGMENT_NAME.test(name)) continue;
    const path = join(folder, name);
    const found = readSegment(path, dataKey);
    if (found === null) continue;
    const { format: itsFormat, ...segment } = found;
    if (format !== null && (itsFormat.codec !== format.codec || itsFormat.rateHz !== format.rateHz)) continue;
    format ??= itsFormat;
    segments.push(segment);
    totalSamples = Math.max(totalSamples, segment.firstSample + segment.samples);
  }
  return format === null ? null : { format, segments, totalSamples };
}

/**
 * For a folder that `listSegments` found nothing in: removes it when there is no sound in it, else renames it so that
 * it is looked at no more, but kept. Returns its new path, or null.
 */
export function setAside(folder: string): string | null {
  const names = readdirSync(folder).filter((name) => SEGMENT_NAME.test(name));
  if (names.every((name) => statSync(join(folder, name)).size <= ENCRYPTED_HEADER_BYTES)) {
    rmSync(folder, { recursive: true, force: true });
    return null;
  }
  const kept = `${folder}.unreadable`;
  renameSync(folder, kept);
  return kept;
}

function segmentNumbersIn(folder: string): number[] {
  return readdirSync(folder).flatMap((name) => {
    const number = SEGMENT_NAME.exec(name)?.[1];
    return number === undefined ? [] : [Number(number)];
  });
}

function readSegment(path: string, dataKey: Uint8Array): (Segment & { format: LegFormat }) | null {
  const fd = openSync(path, 'r');
  try {
    const header = readPiece(fd, 0, ENCRYPTED_HEADER_BYTES);
    const cipher = openFileCipher(dataKey, header);
    if (cipher.sound === null) return null;
    const { format, firstSample } = cipher.sound;
    const fileBytes = statSync(path).size;
    // From the end, so that a torn tail is cut off; damage in the middle keeps its place.
    let samples = 0;
    for (let chunk = chunkCountOf(fileBytes, cipher.chunkBytes) - 1; chunk >= 0 && samples === 0; chunk--) {
      const plain = cipher.decrypt(chunk, readChunk(fd, chunk, cipher.chunkBytes));
      if (plain === null) continue;
      samples = (chunk * cipher.chunkBytes + plain.length) / instantBytesOf(format);
    }
    return { path, cipher, firstSample, samples: Math.floor(samples), format };
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
}

function readChunk(fd: number, chunk: number, chunkBytes: number): Uint8Array {
  return readPiece(fd, chunkStartOf(chunk, chunkBytes), chunkBytes + CHUNK_TAG_BYTES);
}

function readPiece(fd: number, position: number, lengthBytes: number): Uint8Array {
  const piece = new Uint8Array(lengthBytes);
  return piece.subarray(0, readSync(fd, piece, 0, lengthBytes, position));
}

/** Reads a folder's segments as one stretch of sound; what is missing within it, or does not open, is silence. */
export class SegmentReader {
  readonly #segments: readonly Segment[];
  readonly #format: LegFormat;
  #openSegment: Segment | null = null;
  #openChunk = -1;
  #plain: Uint8Array | null = null;
  #fd = -1;

  constructor(segments: readonly Segment[], format: LegFormat) {
    this.#segments = segments;
    this.#format = format;
  }

  /** Fills the first `samples` (of both channels, interleaved) of `target` with what begins at `fromSample`. */
  read(fromSample: number, samples: number, target: Uint8Array): void {
    const instantBytes = instantBytesOf(this.#format);
    target.fill(silenceByteOf(this.#format), 0, samples * instantBytes);
    for (const segment of this.#segments) {
      const start = Math.max(fromSample, segment.firstSample);
      const end = Math.min(fromSample + samples, segment.firstSample + segment.samples);
      if (start < end) this.#copy(segment, start, end, target, (start - fromSample) * instantBytes);
    }
  }

  /** Idempotent. */
  close(): void {
    if (this.#fd !== -1) closeSync(this.#fd);
    this.#fd = -1;
    this.#openSegment = null;
    this.#openChunk = -1;
  }

  #copy(segment: Segment, start: number, end: number, target: Uint8Array, to: number): void {
    const instantBytes = instantBytesOf(this.#format);
    const { chunkBytes } = segment.cipher;
    let at = (start - segment.firstSample) * instantBytes;
    let targetAt = to;
    for (const until = (end - segment.firstSample) * instantBytes; at < until; ) {
      const chunk = Math.floor(at / chunkBytes);
      const inChunk = at - chunk * chunkBytes;
      const length = Math.min(until - at, chunkBytes - inChunk);
      const plain = this.#chunk(segment, chunk);
      if (plain !== null) target.set(plain.subarray(inChunk, inChunk + length), targetAt);
      at += length;
      targetAt += length;
    }
  }

  #chunk(segment: Segment, chunk: number): Uint8Array | null {
    if (this.#openSegment !== segment) {
      this.close();
      this.#fd = openSync(segment.path, 'r');
      this.#openSegment = segment;
    }
    if (this.#openChunk !== chunk) {
      this.#plain = segment.cipher.decrypt(chunk, readChunk(this.#fd, chunk, segment.cipher.chunkBytes));
      this.#openChunk = chunk;
    }
    return this.#plain;
  }
}
