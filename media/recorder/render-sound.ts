/**
 * Makes another form of a finished recording: one channel, a mix of both, WAV, or the outline of its waveform. Called
 * by the render thread, once a form; encrypted bytes in, an encrypted file out, so that nothing audible touches a
 * disk. The whole source lies in memory (0.24 MB a minute); the result does not.
 */
import { closeSync, fsyncSync, openSync } from 'node:fs';
import type { OggOpusFacts } from '../audio/ogg-opus-reader.ts';
import { OGG_TICKS_PER_SECOND } from '../audio/ogg-opus-writer.ts';
import type { OpusCodec, OpusRateHz } from '../audio/opus-codec.ts';
import { EncryptedFileWriter, type WriteAt } from '../files/encrypted-file-writer.ts';
import { decodeSound, type EncryptedSound, readSound } from './encrypted-sound.ts';
import { peaksSink } from './peaks-sink.ts';
import { opusSink, type SoundSink, wavSink } from './sound-sinks.ts';

export interface RenderOrder extends EncryptedSound {
  variant: 'stereo' | 'mono' | 'caller' | 'agent';
  /** `peaks`: of stereo alone, whatever the variant (`peaks-sink.ts`). */
  format: 'ogg' | 'wav' | 'peaks';
  /** Written anew; the caller gives it its name when it is whole. */
  targetPath: string;
}

/** One voice takes less than two; the figures for both are in `finish-recording.ts`. */
const MONO_BITS_PER_SEC: Record<OpusRateHz, number> = {
  8000: 24000,
  12000: 24000,
  16000: 28000,
  24000: 32000,
  48000: 48000,
};
/** More than the first encoding had, so that the second is not heard. */
const STEREO_BITS_PER_SEC = 64000;

/** Returns the size of the encrypted file. Throws an `EncryptedFileBroken`, an `OggError`, or what the disk throws. */
export function renderSound(order: RenderOrder, codec: OpusCodec, write: WriteAt): number {
  // Where the sound ends stands on the last page only.
  const facts = readSound(order);
  const rateHz = facts.inputRateHz as OpusRateHz;
  const totalSamples = Math.round((facts.soundTicks * rateHz) / OGG_TICKS_PER_SECOND);
  const channels = order.variant === 'stereo' ? 2 : 1;
  const fd = openSync(order.targetPath, 'w', 0o600);
  try {
    const encrypted = new EncryptedFileWriter(order.dataKey, fd, write);
    const sinks: Record<RenderOrder['format'], () => SoundSink> = {
      peaks: () => peaksSink(encrypted, rateHz, totalSamples),
      wav: () => wavSink(encrypted, rateHz, channels, totalSamples),
      ogg: () =>
        opusSink(encrypted, codec, {
          rateHz,
          channels,
          bitsPerSec: channels === 1 ? MONO_BITS_PER_SEC[rateHz] : STEREO_BITS_PER_SEC,
          soundTicks: facts.soundTicks,
          comments: commentsOf(order, facts),
        }),
    };
    const sink = sinks[order.format]();
    const variant = order.format === 'peaks' ? 'stereo' : order.variant;
    decodeSound(order, facts, codec, rateHz, (both) => sink.add(chosen(variant, both)));
    sink.finish();
    const encryptedBytes = encrypted.finish();
    fsyncSync(fd);
    return encryptedBytes;
  } finally {
    closeSync(fd);
  }
}

/** Caller left, agent right. The mix keeps each voice at its level; where both are loud it clips. */
function chosen(variant: RenderOrder['variant'], both: Int16Array): Int16Array {
  if (variant === 'stereo') return both;
  const one = new Int16Array(both.length / 2);
  for (let i = 0; i < one.length; i++) {
    const left = both[2 * i]!;
    const right = both[2 * i + 1]!;
    one[i] =
      variant === 'caller' ? left : variant === 'agent' ? right : Math.max(-32768, Math.min(32767, left + right));
  }
  return one;
}

function commentsOf({ variant }: RenderOrder, { comments }: OggOpusFacts): Record<string, string> {
  return { TITLE: comments['TITLE'] ?? '', CHANNEL: variant };
}
