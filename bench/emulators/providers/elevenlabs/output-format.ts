/** `output_format` of the emulated ElevenLabs: what it speaks, and what the real one knows beside it. */
import type { SoundFormat } from '../voice/sound-format.ts';

const FORMATS: Record<string, SoundFormat> = {
  ulaw_8000: { codec: 'mulaw', rateHz: 8_000 },
  alaw_8000: { codec: 'alaw', rateHz: 8_000 },
  pcm_8000: { codec: 'pcm_s16le', rateHz: 8_000 },
  pcm_16000: { codec: 'pcm_s16le', rateHz: 16_000 },
  pcm_22050: { codec: 'pcm_s16le', rateHz: 22_050 },
  pcm_24000: { codec: 'pcm_s16le', rateHz: 24_000 },
  pcm_32000: { codec: 'pcm_s16le', rateHz: 32_000 },
  pcm_44100: { codec: 'pcm_s16le', rateHz: 44_100 },
  pcm_48000: { codec: 'pcm_s16le', rateHz: 48_000 },
};

/** What the real one sends when nothing is asked for. There is no MP3 or Opus encoder here. */
export const DEFAULT_FORMAT = 'mp3_44100_128';

/** Null: the real service knows it and the emulator does not, or nobody does. */
export function soundFormatOf(outputFormat: string): SoundFormat | null {
  return FORMATS[outputFormat] ?? null;
}

export function formatNames(): string[] {
  return Object.keys(FORMATS);
}
