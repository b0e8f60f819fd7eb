/**
 * The outline of a recording instead of its sound: the loudest sample of each channel in each stretch, as JSON, for a
 * player's waveform. Used by `render-sound.ts`.
 */
import type { EncryptedFileWriter } from '../files/encrypted-file-writer.ts';
import type { SoundSink } from './sound-sinks.ts';

/** As `peaksSink` writes it. Peaks are 0 to 255. */
export interface SoundPeaks {
  durationSeconds: number;
  binMs: number;
  caller: number[];
  agent: number[];
}

const FINEST_BIN_MS = 20;
/** More than any screen has columns; a longer call has wider stretches. */
const MOST_BINS = 6_000;
const FULL_SCALE = 32_768;
const LOUDEST = 255;

/** Takes stereo: the caller left, the agent right. `totalSamples` a channel. */
export function peaksSink(
  encrypted: Pick<EncryptedFileWriter, 'add'>,
  rateHz: number,
  totalSamples: number,
): SoundSink {
  const totalMs = (1000 * totalSamples) / rateHz;
  const binMs = FINEST_BIN_MS * Math.max(1, Math.ceil(totalMs / MOST_BINS / FINEST_BIN_MS));
  const samplesABin = (rateHz * binMs) / 1000;
  const bins = Math.ceil(totalSamples / samplesABin);
  const peaks = [new Uint16Array(bins), new Uint16Array(bins)];
  let at = 0;
  return {
    add(samples) {
      for (let i = 0; i + 1 < samples.length && at < totalSamples; i += 2, at++) {
        const bin = Math.floor(at / samplesABin);
        for (const [channel, of] of peaks.entries()) {
          const level = Math.abs(samples[i + channel]!);
          if (level > of[bin]!) of[bin] = level;
        }
      }
    },
    finish() {
      const [caller = [], agent = []] = peaks.map((of) => [...of].map(shown));
      const outline: SoundPeaks = { durationSeconds: totalMs / 1000, binMs, caller, agent };
      encrypted.add(Buffer.from(JSON.stringify(outline)));
    },
  };
}

const shown = (level: number): number => Math.min(LOUDEST, Math.round((level * LOUDEST) / FULL_SCALE));
