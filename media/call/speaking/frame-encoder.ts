/**
 * One voice frame → one packet of a leg whose codec has a memory (Opus): so it cannot be rendered ahead and sent from
 * any place, but is encoded frame by frame as the far end gets it, in one unbroken stream a
 * call. PCM and mu-law legs have none.
 */
import { MAX_OPUS_PACKET_BYTES, type OpusCodec } from '../../audio/opus-codec.ts';
import { FRAME_MS, type LegFormat, voiceFormatOf } from '../../contract/audio-format.ts';

export interface FrameEncoder {
  /** The last packet, from its start. */
  readonly packet: Uint8Array;
  /** Encodes one 20 ms frame of `voiceFormatOf(format)` and returns the packet's bytes. */
  encode(bytes: Uint8Array, start: number): number;
  /** Idempotent. */
  close(): void;
}

/** Speech at 16 kHz: more than enough for a voice, at half the cost of 48 kHz (audio-engines.md §4). */
const BITS_PER_SEC = 24_000;
const COMPLEXITY = 5;

/** Null where frames go out as they were rendered. */
export function createFrameEncoder(format: LegFormat, opus: () => OpusCodec): FrameEncoder | null {
  if (format.codec !== 'opus') return null;
  const { rateHz } = voiceFormatOf(format);
  const encoder = opus().createEncoder({ rateHz, channels: 1, bitsPerSec: BITS_PER_SEC, complexity: COMPLEXITY });
  const samples = new Int16Array((rateHz * FRAME_MS) / 1000);
  const packet = new Uint8Array(MAX_OPUS_PACKET_BYTES);
  return {
    packet,
    encode(bytes, start) {
      for (let i = 0; i < samples.length; i++) samples[i] = bytes[start + 2 * i]! | (bytes[start + 2 * i + 1]! << 8);
      return encoder.encode(samples, packet, 0);
    },
    close: () => encoder.close(),
  };
}
