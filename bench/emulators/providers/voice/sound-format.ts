/** How a provider is asked for sound, and 16 kHz samples in that form. Called once a piece of speech. */
import { encodeAlaw, encodeMulaw } from '../../../../media/audio/g711.ts';
import { createResampler } from '../../../../media/audio/resampler.ts';

export interface SoundFormat {
  codec: 'pcm_s16le' | 'mulaw' | 'alaw';
  rateHz: number;
}

export const VOICE_RATE_HZ = 16_000;

export function bytesPerMs({ codec, rateHz }: SoundFormat): number {
  return (codec === 'pcm_s16le' ? 2 : 1) * (rateHz / 1000);
}

/** The whole of it; lengths keep to the nearest sample, 3 ms later than they came where the rate changes. */
export async function encoded(samples16k: Int16Array, format: SoundFormat): Promise<Buffer> {
  const samples = format.rateHz === VOICE_RATE_HZ ? samples16k : await resampled(samples16k, format.rateHz);
  if (format.codec === 'pcm_s16le') {
    const bytes = Buffer.alloc(samples.length * 2);
    for (let i = 0; i < samples.length; i++) bytes.writeInt16LE(samples[i]!, i * 2);
    return bytes;
  }
  const bytes = Buffer.alloc(samples.length);
  const encode = format.codec === 'mulaw' ? encodeMulaw : encodeAlaw;
  encode(samples, 0, samples.length, bytes, 0);
  return bytes;
}

async function resampled(samples: Int16Array, toHz: number): Promise<Int16Array> {
  const resampler = await createResampler(VOICE_RATE_HZ, toHz);
  const whole = new Int16Array(Math.round((samples.length * toHz) / VOICE_RATE_HZ));
  const body = resampler.process(samples);
  whole.set(body.subarray(0, whole.length));
  resampler.close();
  return whole;
}
