/**
 * The layout and the checksum of an Ogg page (RFC 3533 §6), shared by the Ogg/Opus writer and reader.
 *
 *   0 "OggS" │ 4 version 0 │ 5 flags │ 6 granule position (64 bit) │ 14 serial │ 18 page number │ 22 checksum
 *   26 count of lacing values │ 27 lacing values │ packets                                    (little-endian)
 *
 * A packet is as long as the sum of its lacing values: any number of 255, then one below 255.
 */

export const PAGE_HEADER_BYTES = 27;
export const MAX_LACING_VALUES = 255;
export const MAX_PAGE_BYTES = PAGE_HEADER_BYTES + MAX_LACING_VALUES + MAX_LACING_VALUES * 255;
export const CHECKSUM_AT = 22;
export const FLAG_CONTINUED = 1;
export const FLAG_FIRST = 2;
export const FLAG_LAST = 4;
/** "OggS", read as a little-endian number. */
export const CAPTURE_PATTERN = 0x5367674f;

/** CRC-32 with polynomial 0x04c11db7, not reflected, start 0, no final inversion: not zlib's. */
const crcTable = new Uint32Array(256);
for (let byte = 0; byte < 256; byte++) {
  let value = byte << 24;
  for (let bit = 0; bit < 8; bit++) value = (value << 1) ^ (value & 0x80000000 ? 0x04c11db7 : 0);
  crcTable[byte] = value;
}

/** Checksum of the page `[start, end)`, its own checksum field counted as zero. 32 bits, unsigned. */
export function oggChecksum(bytes: Uint8Array, start: number, end: number): number {
  const field = start + CHECKSUM_AT;
  let crc = 0;
  for (let i = start; i < end; i++) {
    const byte = i >= field && i < field + 4 ? 0 : bytes[i]!;
    crc = (crc << 8) ^ crcTable[(crc >>> 24) ^ byte]!;
  }
  return crc >>> 0;
}
