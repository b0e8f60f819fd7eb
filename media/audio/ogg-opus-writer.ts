/**
 * Writes Opus packets as an Ogg file (RFC 7845 over RFC 3533): head page, tags page, then 50 packets a page, so that a
 * second of sound is the most that a cut file loses. Called by the recorder; knows no files, hands each finished page
 * to `write`. All times are ticks of 48 kHz, whatever the coded rate (RFC 7845 §4).
 */
import {
  CAPTURE_PATTERN,
  CHECKSUM_AT,
  FLAG_FIRST,
  FLAG_LAST,
  MAX_LACING_VALUES,
  MAX_PAGE_BYTES,
  oggChecksum,
  PAGE_HEADER_BYTES,
} from './ogg-page.ts';

export const OGG_TICKS_PER_SECOND = 48000;
const PACKETS_PER_PAGE = 50;

export interface OggOpusOptions {
  channels: 1 | 2;
  /** The encoder's lookahead: what a player drops from the start. */
  preSkipTicks: number;
  /** The rate of the original; a note only, players decode at any rate. */
  inputRateHz: number;
  /** 32 bits; tells streams apart in a file that was chained of several. */
  serial: number;
  /** The encoder's name, and comments in `NAME=value` form by name. */
  vendor: string;
  comments: Record<string, string>;
  /** Gets each page as it is done; the bytes are valid until it returns. */
  write: (page: Uint8Array) => void;
}

export interface OggOpusWriter {
  /** Adds the packet at `[start, start + lengthBytes)`, which lasts `durationTicks` (960 for 20 ms). */
  addPacket(bytes: Uint8Array, start: number, lengthBytes: number, durationTicks: number): void;
  /**
   * Ends the stream. `soundTicks` is the exact length of the sound without the pre-skip: the last page's granule
   * position trims what the last packet holds beyond it (RFC 7845 §4.4). Throws when the packets are too short to hold
   * it. Call once.
   */
  finish(soundTicks: number): void;
}

export function createOggOpusWriter(options: OggOpusOptions): OggOpusWriter {
  const page = new Uint8Array(MAX_PAGE_BYTES);
  const pageView = new DataView(page.buffer);
  const lacing = new Uint8Array(MAX_LACING_VALUES);
  const body = new Uint8Array(MAX_LACING_VALUES * 255);
  let lacingCount = 0;
  let bodyBytes = 0;
  let packetsInPage = 0;
  let pageNumber = 0;
  let ticks = 0;

  function append(bytes: Uint8Array, start: number, lengthBytes: number): void {
    for (let i = 0; i < lengthBytes; i++) body[bodyBytes + i] = bytes[start + i]!;
    bodyBytes += lengthBytes;
    for (let left = lengthBytes; left >= 255; left -= 255) lacing[lacingCount++] = 255;
    lacing[lacingCount++] = lengthBytes % 255;
  }

  function writePage(flags: number, granuleTicks: number): void {
    pageView.setUint32(0, CAPTURE_PATTERN, true);
    page[4] = 0;
    page[5] = flags;
    pageView.setUint32(6, granuleTicks >>> 0, true);
    pageView.setUint32(10, Math.floor(granuleTicks / 2 ** 32), true);
    pageView.setUint32(14, options.serial, true);
    pageView.setUint32(18, pageNumber++, true);
    page[26] = lacingCount;
    page.set(lacing.subarray(0, lacingCount), PAGE_HEADER_BYTES);
    page.set(body.subarray(0, bodyBytes), PAGE_HEADER_BYTES + lacingCount);
    const end = PAGE_HEADER_BYTES + lacingCount + bodyBytes;
    pageView.setUint32(CHECKSUM_AT, oggChecksum(page, 0, end), true);
    options.write(page.subarray(0, end));
    lacingCount = 0;
    bodyBytes = 0;
    packetsInPage = 0;
  }

  const head = opusHead(options);
  append(head, 0, head.length);
  writePage(FLAG_FIRST, 0);
  const tags = opusTags(options);
  if (tags.length > body.length - 255)
    throw new RangeError(`Ogg/Opus comments of ${tags.length} bytes fill over a page`);
  append(tags, 0, tags.length);
  writePage(0, 0);

  return {
    addPacket(bytes, start, lengthBytes, durationTicks) {
      const lacingNeeded = Math.floor(lengthBytes / 255) + 1;
      if (lacingNeeded > MAX_LACING_VALUES) throw new RangeError(`a packet of ${lengthBytes} bytes fills over a page`);
      // A page goes out when the next packet comes, so that the last page is at hand when the stream ends.
      if (packetsInPage === PACKETS_PER_PAGE || lacingCount + lacingNeeded > MAX_LACING_VALUES) writePage(0, ticks);
      append(bytes, start, lengthBytes);
      packetsInPage++;
      ticks += durationTicks;
    },
    finish(soundTicks) {
      const endTicks = options.preSkipTicks + soundTicks;
      if (endTicks > ticks) throw new RangeError(`packets of ${ticks} ticks cannot hold ${endTicks} with the pre-skip`);
      writePage(FLAG_LAST, endTicks);
    },
  };
}

/** RFC 7845 §5.1, channel mapping family 0: mono, or left and right. */
function opusHead(options: OggOpusOptions): Uint8Array {
  const head = Buffer.alloc(19);
  head.write('OpusHead', 0, 'latin1');
  head.writeUInt8(1, 8);
  head.writeUInt8(options.channels, 9);
  head.writeUInt16LE(options.preSkipTicks, 10);
  head.writeUInt32LE(options.inputRateHz, 12);
  head.writeInt16LE(0, 16);
  head.writeUInt8(0, 18);
  return head;
}

/** RFC 7845 §5.2. */
function opusTags(options: OggOpusOptions): Uint8Array {
  const parts: Buffer[] = [Buffer.from('OpusTags', 'latin1')];
  const addText = (text: string) => {
    const bytes = Buffer.from(text, 'utf8');
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    parts.push(length, bytes);
  };
  const comments = Object.entries(options.comments);
  addText(options.vendor);
  const count = Buffer.alloc(4);
  count.writeUInt32LE(comments.length);
  parts.push(count);
  for (const [name, value] of comments) addText(`${name}=${value}`);
  return Buffer.concat(parts);
}
