/**
 * A running recording on disk: one folder a call, in it files of 10 s of interleaved stereo in the leg's codec, each a WAV of its own
 * (`000000.wav` holds seconds 0 to 10, `000001.wav` 10 to 20, …). The recorder appends each second; a crash of the process loses
 * what was not yet appended (at most 5 s), a power cut at most the segment that was not yet synced (10 s) as well.
 * A header states the full 10 s from the start; what a segment really holds, its size says. The file `owner` names who writes.
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
import { readWavHeader, WAV_HEADER_BYTES, writeWavHeader } from '../audio/wav.ts';
import { type LegFormat, silenceByteOf } from '../contract/audio-format.ts';

export const SEGMENT_SECONDS = 10;
const SEGMENT_NAME = /^(\d{6})\.wav$/;
const OWNER_NAME = 'owner';

/** `fs.writeSync` in use; tests pass a full disk. */
export type WriteAt = (fd: number, bytes: Uint8Array, start: number, lengthBytes: number, position: number) => number;

export interface Segment {
  index: number;
  path: string;
  /** Whole samples of both channels that the file holds. */
  samples: number;
}

/** Bytes of one sample of both channels. */
export function instantBytesOf(format: LegFormat): number {
  return format.codec === 'mulaw' ? 2 : 4;
}

export function segmentSamplesOf(format: LegFormat): number {
  return SEGMENT_SECONDS * format.rateHz;
}

/** Writes until all is written: a disk may take less than it was given. */
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

export class SegmentWriter {
  readonly #folder: string;
  readonly #format: LegFormat;
  readonly #write: WriteAt;
  readonly #onSyncError: (error: Error) => void;
  readonly #instantBytes: number;
  readonly #segmentBytes: number;
  #fd = -1;
  #writtenBytes: number;

  /** Creates the folder and its parents. `firstSample` above 0 goes on after what the folder already holds. */
  constructor(
    folder: string,
    format: LegFormat,
    owner: string,
    firstSample: number,
    write: WriteAt,
    onSyncError: (error: Error) => void,
  ) {
    this.#folder = folder;
    this.#format = format;
    this.#write = write;
    this.#onSyncError = onSyncError;
    this.#instantBytes = instantBytesOf(format);
    this.#segmentBytes = segmentSamplesOf(format) * this.#instantBytes;
    this.#writtenBytes = firstSample * this.#instantBytes;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, OWNER_NAME), owner, { mode: 0o600 });
  }

  /** Appends the first `lengthBytes` of `bytes`. Throws what the disk throws; the writer is of no more use then. */
  append(bytes: Uint8Array, lengthBytes: number): void {
    let start = 0;
    while (start < lengthBytes) {
      const inSegment = this.#writtenBytes % this.#segmentBytes;
      if (this.#fd === -1) this.#openSegment(Math.floor(this.#writtenBytes / this.#segmentBytes));
      const piece = Math.min(lengthBytes - start, this.#segmentBytes - inSegment);
      writeFully(this.#write, this.#fd, bytes, start, piece, WAV_HEADER_BYTES + inSegment);
      start += piece;
      this.#writtenBytes += piece;
      if (inSegment + piece === this.#segmentBytes) this.close();
    }
  }

  /** Syncs and closes the open segment in the background. Idempotent. */
  close(): void {
    const fd = this.#fd;
    if (fd === -1) return;
    this.#fd = -1;
    fsync(fd, (syncError) => {
      close(fd, (closeError) => {
        const error = syncError ?? closeError ?? null;
        if (error !== null) this.#onSyncError(error);
      });
    });
  }

  #openSegment(index: number): void {
    const path = join(this.#folder, `${String(index).padStart(6, '0')}.wav`);
    const isNew = this.#writtenBytes % this.#segmentBytes === 0;
    this.#fd = openSync(path, isNew ? 'w' : 'r+', 0o600);
    if (!isNew) return;
    const header = new Uint8Array(WAV_HEADER_BYTES);
    const { codec, rateHz } = this.#format;
    writeWavHeader(header, { codec, rateHz, channels: 2, dataBytes: this.#segmentBytes });
    writeFully(this.#write, this.#fd, header, 0, WAV_HEADER_BYTES, 0);
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
 * The folder's segments in order, and their format; null when none holds a readable header. A segment whose header is
 * damaged or differs from the others' is left out: its ten seconds become silence.
 */
export function listSegments(folder: string): { format: LegFormat; segments: Segment[]; totalSamples: number } | null {
  let format: LegFormat | null = null;
  const segments: Segment[] = [];
  let totalSamples = 0;
  for (const name of readdirSync(folder).sort()) {
    const index = SEGMENT_NAME.exec(name)?.[1];
    if (index === undefined) continue;
    const path = join(folder, name);
    const found = readFormat(path);
    if (found === null || (format !== null && (found.codec !== format.codec || found.rateHz !== format.rateHz)))
      continue;
    format ??= found;
    const dataBytes = statSync(path).size - WAV_HEADER_BYTES;
    const samples = Math.min(Math.floor(dataBytes / instantBytesOf(format)), segmentSamplesOf(format));
    segments.push({ index: Number(index), path, samples });
    totalSamples = Number(index) * segmentSamplesOf(format) + samples;
  }
  return format === null ? null : { format, segments, totalSamples };
}

/**
 * For a folder that `listSegments` found nothing in: removes it when there is no sound in it, else renames it so that it is looked at
 * no more, but kept. Returns its new path, or null.
 */
export function setAside(folder: string): string | null {
  const names = readdirSync(folder).filter((name) => SEGMENT_NAME.test(name));
  if (names.every((name) => statSync(join(folder, name)).size <= WAV_HEADER_BYTES)) {
    rmSync(folder, { recursive: true, force: true });
    return null;
  }
  const kept = `${folder}.unreadable`;
  renameSync(folder, kept);
  return kept;
}

function readFormat(path: string): LegFormat | null {
  const header = new Uint8Array(WAV_HEADER_BYTES);
  const fd = openSync(path, 'r');
  try {
    readSync(fd, header, 0, WAV_HEADER_BYTES, 0);
  } finally {
    closeSync(fd);
  }
  const shape = readWavHeader(header);
  if (shape === null || shape.channels !== 2) return null;
  if (![8000, 16000, 24000, 48000].includes(shape.rateHz)) return null;
  return { codec: shape.codec, rateHz: shape.rateHz as LegFormat['rateHz'] };
}

/** Reads a folder's segments as one stretch of sound; what is missing within it is silence. */
export class SegmentReader {
  readonly #segments = new Map<number, Segment>();
  readonly #format: LegFormat;
  #openIndex = -1;
  #fd = -1;

  constructor(segments: readonly Segment[], format: LegFormat) {
    for (const segment of segments) this.#segments.set(segment.index, segment);
    this.#format = format;
  }

  /** Fills the first `samples` (of both channels, interleaved) of `target` with what begins at `fromSample`. */
  read(fromSample: number, samples: number, target: Uint8Array): void {
    const instantBytes = instantBytesOf(this.#format);
    const segmentSamples = segmentSamplesOf(this.#format);
    target.fill(silenceByteOf(this.#format), 0, samples * instantBytes);
    let done = 0;
    while (done < samples) {
      const at = fromSample + done;
      const index = Math.floor(at / segmentSamples);
      const inSegment = at - index * segmentSamples;
      const piece = Math.min(samples - done, segmentSamples - inSegment);
      const there = Math.min(piece, (this.#segments.get(index)?.samples ?? 0) - inSegment);
      if (there > 0) {
        const position = WAV_HEADER_BYTES + inSegment * instantBytes;
        readSync(this.#open(index), target, done * instantBytes, there * instantBytes, position);
      }
      done += piece;
    }
  }

  /** Idempotent. */
  close(): void {
    if (this.#fd !== -1) closeSync(this.#fd);
    this.#fd = -1;
    this.#openIndex = -1;
  }

  #open(index: number): number {
    if (this.#openIndex !== index) {
      this.close();
      this.#fd = openSync(this.#segments.get(index)!.path, 'r');
      this.#openIndex = index;
    }
    return this.#fd;
  }
}
