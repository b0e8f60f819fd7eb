/**
 * Looks through an Ogg file before prism-media demuxes it, for its demuxer takes what comes: checksums, a last page
 * that is whole, how many packets of sound there are. What it cannot demux (packets that span pages, several streams)
 * is for FFmpeg.
 */
import { CHECKSUM_AT, FLAG_CONTINUED, FLAG_FIRST, oggChecksum, PAGE_HEADER_BYTES } from '../audio/ogg-page.ts';
import { ClipRefused, NotReadHere } from './clip-refused.ts';

/** Pages of OpusHead and OpusTags, one packet each. */
const HEADER_PACKETS = 2;
const CHANNELS_AT = 9;
const MAPPING_AT = 18;

/** The number of packets that hold sound. Throws `ClipRefused` or `NotReadHere`. */
export function soundPacketsOfOgg(file: Uint8Array): number {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.length);
  let packets = 0;
  for (let at = 0; at < bytes.length; ) {
    if (bytes.toString('latin1', at, at + 4) !== 'OggS') throw new ClipRefused(`the Ogg file is damaged at byte ${at}`);
    const lacingAt = at + PAGE_HEADER_BYTES;
    const lacing = bytes.subarray(lacingAt, lacingAt + (bytes[at + 26] ?? 0));
    const end = lacing.reduce((sum, value) => sum + value, lacingAt + lacing.length);
    if (lacingAt > bytes.length || end > bytes.length)
      throw new ClipRefused('the Ogg file ends in the middle of a page');
    if (bytes.readUInt32LE(at + CHECKSUM_AT) !== oggChecksum(bytes, at, end)) {
      throw new ClipRefused(`the Ogg file is damaged: the page at byte ${at} has a wrong checksum`);
    }
    const flags = bytes[at + 5]!;
    if ((flags & FLAG_FIRST) !== 0 && at > 0) throw new NotReadHere('several streams');
    if ((flags & FLAG_CONTINUED) !== 0 || lacing.at(-1) === 255) throw new NotReadHere('packets that span pages');
    if (at === 0) checkHead(bytes.subarray(lacingAt + lacing.length, end));
    packets += lacing.reduce((count, value) => count + (value < 255 ? 1 : 0), 0);
    at = end;
  }
  return packets - HEADER_PACKETS;
}

/** Mapping family 0 (RFC 7845 §5.1.1): one Opus stream, mono or stereo. */
function checkHead(head: Buffer): void {
  const channels = head[CHANNELS_AT] ?? 0;
  if (channels < 1 || channels > 2 || head[MAPPING_AT] !== 0) throw new NotReadHere('more than two channels');
}
