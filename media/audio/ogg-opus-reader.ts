/**
 * Reads an Ogg/Opus file piece by piece and checks all that can be checked without decoding: page checksums and
 * numbers, one stream from its first page to its last, header packets, and granule positions against the packets' own
 * durations. The recorder reads each finished file back with it; tests decode with it. It reads what our writer writes:
 * a packet never spans pages.
 */
import {
  CAPTURE_PATTERN,
  CHECKSUM_AT,
  FLAG_CONTINUED,
  FLAG_FIRST,
  FLAG_LAST,
  MAX_PAGE_BYTES,
  oggChecksum,
  PAGE_HEADER_BYTES,
} from './ogg-page.ts';

export interface OggOpusFacts {
  channels: number;
  preSkipTicks: number;
  inputRateHz: number;
  vendor: string;
  comments: Record<string, string>;
  pages: number;
  packets: number;
  /** Length of the sound in 48 kHz ticks, pre-skip and end trimming taken off. */
  soundTicks: number;
}

/** The file is damaged or none of ours; the message says what is wrong and at which byte. */
export class OggError extends Error {
  override readonly name = 'OggError';
}

/** Gets each audio packet; the range is valid until it returns. */
export type OnPacket = (bytes: Uint8Array, start: number, lengthBytes: number) => void;

export class OggOpusReader {
  readonly #onPacket: OnPacket | undefined;
  readonly #held = new Uint8Array(2 * MAX_PAGE_BYTES);
  readonly #view = new DataView(this.#held.buffer);
  readonly #facts: OggOpusFacts = {
    channels: 0,
    preSkipTicks: 0,
    inputRateHz: 0,
    vendor: '',
    comments: {},
    pages: 0,
    packets: 0,
    soundTicks: 0,
  };
  #heldBytes = 0;
  /** Bytes of the file before the held ones. */
  #passedBytes = 0;
  #serial = 0;
  #ticks = 0;
  #ended = false;

  constructor(onPacket?: OnPacket) {
    this.#onPacket = onPacket;
  }

  /** The next piece of the file, of any size. Throws an `OggError`; the reader is of no more use then. */
  push(bytes: Uint8Array): void {
    let taken = 0;
    while (taken < bytes.length) {
      const piece = Math.min(bytes.length - taken, this.#held.length - this.#heldBytes);
      this.#held.set(bytes.subarray(taken, taken + piece), this.#heldBytes);
      this.#heldBytes += piece;
      taken += piece;
      this.#readPages();
    }
  }

  /** The end of the file. Throws an `OggError` when the stream is not complete. */
  finish(): OggOpusFacts {
    if (this.#heldBytes > 0) this.#fail(0, `the last page is cut after ${this.#heldBytes} bytes`);
    if (!this.#ended) this.#fail(0, 'the last page is missing');
    return this.#facts;
  }

  #readPages(): void {
    let start = 0;
    for (;;) {
      const end = this.#endOfPage(start);
      if (end < 0) break;
      this.#readPage(start, end);
      start = end;
    }
    this.#held.copyWithin(0, start, this.#heldBytes);
    this.#heldBytes -= start;
    this.#passedBytes += start;
  }

  /** End of the page at `start`, or -1 while it is not all here. */
  #endOfPage(start: number): number {
    if (start + PAGE_HEADER_BYTES > this.#heldBytes) return -1;
    if (this.#view.getUint32(start, true) !== CAPTURE_PATTERN) this.#fail(start, 'no page begins here');
    const lacingEnd = start + PAGE_HEADER_BYTES + this.#held[start + 26]!;
    if (lacingEnd > this.#heldBytes) return -1;
    let end = lacingEnd;
    for (let i = start + PAGE_HEADER_BYTES; i < lacingEnd; i++) end += this.#held[i]!;
    return end > this.#heldBytes ? -1 : end;
  }

  #readPage(start: number, end: number): void {
    const facts = this.#facts;
    const flags = this.#held[start + 5]!;
    if (this.#view.getUint32(start + CHECKSUM_AT, true) !== oggChecksum(this.#held, start, end)) {
      this.#fail(start, `page ${facts.pages} has a wrong checksum`);
    }
    if (this.#ended) this.#fail(start, 'a page follows the last one');
    if (this.#view.getUint32(start + 18, true) !== facts.pages) this.#fail(start, `page ${facts.pages} is missing`);
    if (((flags & FLAG_FIRST) !== 0) !== (facts.pages === 0)) this.#fail(start, 'a stream begins in the wrong place');
    if ((flags & FLAG_CONTINUED) !== 0) this.#fail(start, 'a packet spans pages');
    if (facts.pages === 0) this.#serial = this.#view.getUint32(start + 14, true);
    if (this.#view.getUint32(start + 14, true) !== this.#serial) this.#fail(start, 'a page of another stream');
    const ticksBefore = this.#ticks;
    this.#readPackets(start);
    if (facts.pages > 1) this.#checkGranule(start, (flags & FLAG_LAST) !== 0, ticksBefore);
    facts.pages++;
  }

  #readPackets(start: number): void {
    const lacingEnd = start + PAGE_HEADER_BYTES + this.#held[start + 26]!;
    let at = lacingEnd;
    let lengthBytes = 0;
    for (let i = start + PAGE_HEADER_BYTES; i < lacingEnd; i++) {
      lengthBytes += this.#held[i]!;
      if (this.#held[i] === 255) continue;
      this.#readPacket(start, at, lengthBytes);
      at += lengthBytes;
      lengthBytes = 0;
    }
    if (this.#held[lacingEnd - 1] === 255) this.#fail(start, 'a packet spans pages');
  }

  #readPacket(pageStart: number, at: number, lengthBytes: number): void {
    if (this.#facts.pages === 0) this.#readHead(pageStart, at, lengthBytes);
    else if (this.#facts.pages === 1) this.#readTags(pageStart, at, lengthBytes);
    else this.#readSound(pageStart, at, lengthBytes);
  }

  #readSound(pageStart: number, at: number, lengthBytes: number): void {
    const durationTicks = opusPacketTicks(this.#held, at, lengthBytes);
    if (durationTicks <= 0) this.#fail(pageStart, `packet ${this.#facts.packets} is no Opus packet`);
    this.#ticks += durationTicks;
    this.#facts.packets++;
    this.#onPacket?.(this.#held, at, lengthBytes);
  }

  #checkGranule(start: number, last: boolean, ticksBefore: number): void {
    const granuleTicks = this.#view.getUint32(start + 10, true) * 2 ** 32 + this.#view.getUint32(start + 6, true);
    const fits = last ? granuleTicks <= this.#ticks && granuleTicks >= ticksBefore : granuleTicks === this.#ticks;
    if (!fits) this.#fail(start, `granule position ${granuleTicks} where packets reach ${this.#ticks}`);
    if (!last) return;
    this.#ended = true;
    this.#facts.soundTicks = granuleTicks - this.#facts.preSkipTicks;
    if (this.#facts.soundTicks < 0) this.#fail(start, 'the stream is shorter than its pre-skip');
  }

  #readHead(pageStart: number, at: number, lengthBytes: number): void {
    const head = Buffer.from(this.#held.buffer, at, lengthBytes);
    if (lengthBytes !== 19 || head.toString('latin1', 0, 8) !== 'OpusHead' || head[8] !== 1 || head[18] !== 0) {
      this.#fail(pageStart, 'no OpusHead of version 1 and mapping family 0');
    }
    this.#facts.channels = head.readUInt8(9);
    this.#facts.preSkipTicks = head.readUInt16LE(10);
    this.#facts.inputRateHz = head.readUInt32LE(12);
  }

  #readTags(pageStart: number, at: number, lengthBytes: number): void {
    const tags = Buffer.from(this.#held.buffer, at, lengthBytes);
    try {
      if (tags.toString('latin1', 0, 8) !== 'OpusTags') throw new RangeError();
      let next = 8;
      const readText = () => {
        const textEnd = next + 4 + tags.readUInt32LE(next);
        if (textEnd > tags.length) throw new RangeError();
        const text = tags.toString('utf8', next + 4, textEnd);
        next = textEnd;
        return text;
      };
      this.#facts.vendor = readText();
      const count = tags.readUInt32LE(next);
      next += 4;
      for (let i = 0; i < count; i++) {
        const comment = readText();
        const equals = comment.indexOf('=');
        this.#facts.comments[comment.slice(0, equals)] = comment.slice(equals + 1);
      }
    } catch {
      this.#fail(pageStart, 'no OpusTags');
    }
  }

  #fail(at: number, what: string): never {
    throw new OggError(`Ogg/Opus: ${what} (byte ${this.#passedBytes + at})`);
  }
}

/** Reads a whole file at once. Throws an `OggError`. */
export function readOggOpus(file: Uint8Array, onPacket?: OnPacket): OggOpusFacts {
  const reader = new OggOpusReader(onPacket);
  reader.push(file);
  return reader.finish();
}

/** Frame length in ticks by configuration number (RFC 6716 §3.1, table 2): SILK, hybrid, CELT. */
const SILK_TICKS = [480, 960, 1920, 2880];
const CELT_TICKS = [120, 240, 480, 960];

/** Duration of an Opus packet in 48 kHz ticks, from its first bytes; 0 or less when it is malformed. */
export function opusPacketTicks(bytes: Uint8Array, start: number, lengthBytes: number): number {
  if (lengthBytes < 1) return 0;
  const first = bytes[start]!;
  const configuration = first >> 3;
  const frameTicks =
    configuration < 12
      ? SILK_TICKS[configuration & 3]!
      : configuration < 16
        ? SILK_TICKS[configuration & 1]!
        : CELT_TICKS[configuration & 3]!;
  const code = first & 3;
  const frames = code === 0 ? 1 : code < 3 ? 2 : lengthBytes < 2 ? 0 : bytes[start + 1]! & 63;
  return frames * frameTicks;
}
