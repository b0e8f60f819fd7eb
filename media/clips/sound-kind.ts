/** What a file is, by its first bytes; names and media types that come with it are hearsay. */

export type SoundKind = 'ogg_opus' | 'webm' | 'wav' | 'other';

/** Of the first page's packet, which begins after 27 bytes of header and one lacing value. */
const OPUS_HEAD_AT = 28;

export function soundKindOf(bytes: Uint8Array): SoundKind {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 64));
  if (startsWith(head, 0, 'OggS') && startsWith(head, OPUS_HEAD_AT, 'OpusHead')) return 'ogg_opus';
  if (head.length >= 4 && head.readUInt32BE(0) === 0x1a45dfa3) return 'webm';
  if (startsWith(head, 0, 'RIFF') && startsWith(head, 8, 'WAVE')) return 'wav';
  return 'other';
}

/** MP4 and its relatives, whose index may stand at the end. */
export function isMp4(bytes: Uint8Array): boolean {
  return startsWith(Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 64)), 4, 'ftyp');
}

/** An encrypted MP4 has the sample entry `enca` in its sample description (ISO/IEC 14496-12 §8.12). */
export function isEncryptedMp4(bytes: Uint8Array): boolean {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = all.indexOf('stsd'); at >= 0; at = all.indexOf('stsd', at + 4)) {
    if (all.subarray(at, at + 64).includes('enca')) return true;
  }
  return false;
}

function startsWith(head: Buffer, at: number, tag: string): boolean {
  return head.toString('latin1', at, at + tag.length) === tag;
}
