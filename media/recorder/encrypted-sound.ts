/**
 * Reads a finished recording, encrypted, out of memory: its facts, or its sound, sample by sample. Used by whatever
 * makes one recording of another.
 */
import { type OggOpusFacts, OggOpusReader, type OnPacket } from '../audio/ogg-opus-reader.ts';
import { OGG_TICKS_PER_SECOND } from '../audio/ogg-opus-writer.ts';
import type { OpusCodec, OpusRateHz } from '../audio/opus-codec.ts';
import { chunkCountOf, chunkStartOf, EncryptedFileBroken, openFileCipher } from '../files/encrypted-file.ts';

export interface EncryptedSound {
  /** The stored file, encrypted. */
  source: Uint8Array;
  dataKey: Uint8Array;
}

const LONGEST_PACKET_MS = 120;

/** Throws an `EncryptedFileBroken` or an `OggError`. */
export function readSound({ source, dataKey }: EncryptedSound, onPacket?: OnPacket): OggOpusFacts {
  const cipher = openFileCipher(dataKey, source);
  const ogg = new OggOpusReader(onPacket);
  const chunks = chunkCountOf(source.length, cipher.chunkBytes);
  for (let chunk = 0; chunk < chunks; chunk++) {
    const encrypted = source.subarray(
      chunkStartOf(chunk, cipher.chunkBytes),
      chunkStartOf(chunk + 1, cipher.chunkBytes),
    );
    const plain = cipher.decrypt(chunk, encrypted, chunk === chunks - 1);
    if (plain === null) throw new EncryptedFileBroken(`chunk ${chunk} of ${chunks} is damaged or cut off`);
    ogg.push(plain);
  }
  return ogg.finish();
}

/**
 * `onSound` gets all of it in stereo at `rateHz`, pre-skip and end trimming taken off; the
 * samples are valid until it returns.
 */
export function decodeSound(
  sound: EncryptedSound,
  facts: OggOpusFacts,
  codec: OpusCodec,
  rateHz: OpusRateHz,
  onSound: (interleavedSamples: Int16Array) => void,
): void {
  const totalSamples = Math.round((facts.soundTicks * rateHz) / OGG_TICKS_PER_SECOND);
  const decoder = codec.createDecoder({ rateHz, channels: 2 });
  const both = new Int16Array(((rateHz * LONGEST_PACKET_MS) / 1000) * 2);
  let at = -Math.round((facts.preSkipTicks * rateHz) / OGG_TICKS_PER_SECOND);
  try {
    readSound(sound, (bytes, start, lengthBytes) => {
      const count = decoder.decode(bytes, start, lengthBytes, both);
      if (count < 0) throw new Error('a packet of the recording does not decode');
      const from = Math.max(0, -at);
      const until = Math.min(count, totalSamples - at);
      if (until > from) onSound(both.subarray(from * 2, until * 2));
      at += count;
    });
  } finally {
    decoder.close();
  }
}
