/**
 * Ogg and WebM Opus → samples, demuxed and decoded by prism-media. Its demuxers skip what they do not understand, so
 * the packets that come out are counted against what the file holds: a part of a clip is none.
 * Called in the clip process only.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import prism from 'prism-media';
import { LONGEST_CLIP_MS } from '../contract/clip.ts';
import { ClipRefused, NotReadHere, tooLong } from './clip-refused.ts';

/** Opus decodes to this rate itself. */
export const OPUS_RATE_HZ = 24_000;
const CHANNELS = 2;
const PIECE_BYTES = 65_536;
/** In the head: samples of 48 kHz that are the decoder's run-up (RFC 7845 §5.1). */
const PRE_SKIP_AT = 10;

export async function decodeOpus(file: Uint8Array, container: 'ogg' | 'webm', packets: number): Promise<Float32Array> {
  const demuxer = container === 'ogg' ? new prism.opus.OggDemuxer() : new prism.opus.WebmDemuxer();
  const decoder = new prism.opus.Decoder({ rate: OPUS_RATE_HZ, channels: CHANNELS, frameSize: OPUS_RATE_HZ / 50 });
  const pieces: Buffer[] = [];
  let preSkip = 0;
  let seen = 0;
  let bytes = 0;
  demuxer.on('head', (head: Buffer) => {
    if (head.length > PRE_SKIP_AT + 1) preSkip = Math.round((head.readUInt16LE(PRE_SKIP_AT) * OPUS_RATE_HZ) / 48_000);
  });
  const mostBytes = (LONGEST_CLIP_MS / 1000) * OPUS_RATE_HZ * CHANNELS * 2;
  try {
    await pipeline(
      Readable.from(cut(file)),
      demuxer,
      async function* (source: AsyncIterable<Buffer>) {
        for await (const packet of source) {
          seen++;
          yield packet;
        }
      },
      decoder,
      async (source: AsyncIterable<Buffer>) => {
        for await (const piece of source) {
          pieces.push(piece);
          bytes += piece.length;
          if (bytes > mostBytes) throw tooLong();
        }
      },
    );
  } catch (error) {
    if (error instanceof ClipRefused) throw error;
    throw new NotReadHere(error instanceof Error ? error.message : String(error));
  }
  if (packets <= 0) throw new ClipRefused('the file holds no sound');
  if (seen !== packets) throw new NotReadHere(`${seen} of ${packets} packets`);
  return monoOf(Buffer.concat(pieces)).subarray(preSkip);
}

function* cut(file: Uint8Array): Generator<Buffer> {
  for (let at = 0; at < file.length; at += PIECE_BYTES) {
    yield Buffer.from(file.buffer, file.byteOffset + at, Math.min(PIECE_BYTES, file.length - at));
  }
}

function monoOf(stereo: Buffer): Float32Array {
  const mono = new Float32Array(Math.floor(stereo.length / (2 * CHANNELS)));
  for (let i = 0; i < mono.length; i++) mono[i] = (stereo.readInt16LE(4 * i) + stereo.readInt16LE(4 * i + 2)) / 65_536;
  return mono;
}
