/**
 * Speech as a phone line brings it: made by the local voice, 8 kHz, through mu-law, with silence or noise around it.
 */

import { createRandom } from '../../../../bench/harness/seeded-random.ts';
import { decodeMulaw, encodeMulaw } from '../../../../media/audio/g711.ts';
import { createResampler } from '../../../../media/audio/resampler.ts';
import { FLITE_RATE_HZ, type FliteVoice } from '../../../../media/engines/local/flite-voice.ts';

export interface LineOptions {
  voice?: string;
  rateHz?: 8000 | 16000;
  gain?: number;
  /** White noise under everything, so far below the mean power of the speech. */
  noiseBelowDb?: number;
  /** Silence before the speech; 300 when absent. */
  leadMs?: number;
}

const SILENCE_MS = 300;

/** `text` with silence before it and 300 ms of it after. At 16 kHz the line is clean; at 8 kHz it is mu-law. */
export async function overTheLine(voice: FliteVoice, text: string, options: LineOptions = {}): Promise<Int16Array> {
  const rateHz = options.rateHz ?? 8000;
  const speech = voice.speak({ text, voice: options.voice ?? 'slt', isFirst: true, end: 'text' });
  const resampler = await createResampler(FLITE_RATE_HZ, rateHz);
  const parts = rateHz === FLITE_RATE_HZ ? [speech] : [resampler.process(speech).slice(), resampler.flush().slice()];
  resampler.close();
  const silenceSamples = (SILENCE_MS * rateHz) / 1000;
  const leadSamples = ((options.leadMs ?? SILENCE_MS) * rateHz) / 1000;
  const line = new Int16Array(parts.reduce((sum, part) => sum + part.length, leadSamples + silenceSamples));
  let at = leadSamples;
  for (const part of parts) {
    line.set(part, at);
    at += part.length;
  }
  const random = createRandom(1);
  const gain = options.gain ?? 1;
  const noise = options.noiseBelowDb === undefined ? 0 : gain * rmsOf(speech) * 10 ** (-options.noiseBelowDb / 20);
  for (let i = 0; i < line.length; i++) {
    const sample = line[i]! * gain + noise * Math.sqrt(12) * (random() - 0.5);
    line[i] = Math.max(-32768, Math.min(32767, Math.round(sample)));
  }
  return rateHz === 8000 ? throughMulaw(line) : line;
}

function rmsOf(samples: Int16Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}

export function throughMulaw(samples: Int16Array): Int16Array {
  const codes = new Uint8Array(samples.length);
  encodeMulaw(samples, 0, samples.length, codes, 0);
  const heard = new Int16Array(samples.length);
  decodeMulaw(codes, 0, codes.length, heard, 0);
  return heard;
}
