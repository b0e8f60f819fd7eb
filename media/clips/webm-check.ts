/**
 * Looks through a WebM file before prism-media demuxes it, for its demuxer takes what comes: is its first track of
 * sound Opus, is it encrypted, is it whole, how many blocks of it are there. EBML is RFC 8794,
 * the elements are RFC 9559's.
 */
import { ClipRefused, NotReadHere } from './clip-refused.ts';

const TRACK_ENTRY = 0xae;
const TRACK_NUMBER = 0xd7;
const TRACK_TYPE = 0x83;
const CODEC_ID = 0x86;
const CONTENT_ENCODINGS = 0x6d80;
const CONTENT_ENCRYPTION = 0x5035;
const SIMPLE_BLOCK = 0xa3;
const BLOCK = 0xa1;
/**
 * Entered; everything else is one leaf. Segment, Tracks, TrackEntry, ContentEncodings,
 * ContentEncoding, Cluster, BlockGroup.
 */
const CONTAINERS: ReadonlySet<number> = new Set([
  0x18538067,
  0x1654ae6b,
  TRACK_ENTRY,
  CONTENT_ENCODINGS,
  0x6240,
  0x1f43b675,
  0xa0,
]);
const SOUND = 2;
const LACING = 0x06;

interface Track {
  number: number;
  type: number;
  codec: string;
  encoded: boolean;
  encrypted: boolean;
}

/** The number of blocks that hold sound. Throws `ClipRefused` or `NotReadHere`. */
export function soundBlocksOfWebm(file: Uint8Array): number {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.length);
  const tracks: Track[] = [];
  let sound: Track | undefined;
  let blocks = 0;
  for (let at = 0; at < bytes.length; ) {
    const id = numberAt(bytes, at, true);
    const size = numberAt(bytes, at + id.bytes, false);
    const start = at + id.bytes + size.bytes;
    if (start > bytes.length || (!size.isOpen && start + size.value > bytes.length)) {
      throw new ClipRefused('the WebM file ends in the middle');
    }
    if (CONTAINERS.has(id.value)) {
      if (id.value === TRACK_ENTRY) tracks.push({ number: 0, type: 0, codec: '', encoded: false, encrypted: false });
      const track = tracks.at(-1);
      if (id.value === CONTENT_ENCODINGS && track !== undefined) track.encoded = true;
      at = start;
      continue;
    }
    if (size.isOpen) throw new ClipRefused(`the WebM file is damaged at byte ${at}`);
    const data = bytes.subarray(start, start + size.value);
    note(tracks.at(-1), id.value, data);
    if (id.value === SIMPLE_BLOCK || id.value === BLOCK) {
      sound ??= soundTrackOf(tracks);
      if (((data[0] ?? 0) & 0x7f) === sound.number) {
        if (id.value === BLOCK || ((data[3] ?? 0) & LACING) !== 0) throw new NotReadHere('blocks in groups or laces');
        blocks++;
      }
    }
    at = start + size.value;
  }
  soundTrackOf(tracks);
  return blocks;
}

function note(track: Track | undefined, id: number, data: Buffer): void {
  if (track === undefined) return;
  if (id === TRACK_NUMBER) track.number = data[0] ?? 0;
  else if (id === TRACK_TYPE) track.type = data[0] ?? 0;
  else if (id === CODEC_ID) track.codec = data.toString('latin1').replace(/\0+$/, '');
  else if (id === CONTENT_ENCRYPTION) track.encrypted = true;
}

function soundTrackOf(tracks: readonly Track[]): Track {
  const track = tracks.find(({ type }) => type === SOUND);
  if (track === undefined) throw new ClipRefused('the WebM file holds no sound');
  if (track.encrypted) throw new ClipRefused('the WebM file is encrypted; send one that is not');
  if (track.encoded || track.codec !== 'A_OPUS') throw new NotReadHere(track.codec);
  return track;
}

/** An element's id (its length marker kept) or size (marker taken off; all ones is an open size). */
function numberAt(bytes: Buffer, at: number, isId: boolean): { value: number; bytes: number; isOpen: boolean } {
  const first = bytes[at] ?? 0;
  const lengthBytes = Math.clz32(first) - 23;
  if (lengthBytes > (isId ? 4 : 8) || at + lengthBytes > bytes.length) {
    throw new ClipRefused(`the WebM file is damaged at byte ${at}`);
  }
  const mask = 0xff >> lengthBytes;
  let value = isId ? first : first & mask;
  let isOpen = !isId && (first & mask) === mask;
  for (let i = 1; i < lengthBytes; i++) {
    value = value * 256 + bytes[at + i]!;
    isOpen &&= bytes[at + i] === 0xff;
  }
  return { value, bytes: lengthBytes, isOpen };
}
