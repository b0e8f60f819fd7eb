/**
 * Audio shapes that cross a seam. PCM in memory is always Int16Array, host order, mono unless a name says otherwise.
 */

/** What travels on a leg (one carrier or browser socket), and what its rings carry, untouched. */
export interface LegFormat {
  codec: 'mulaw' | 'pcm_s16le' | 'opus';
  rateHz: 8000 | 16000 | 24000 | 48000;
}

export const FRAME_MS = 20;
export const MULAW_8K: LegFormat = { codec: 'mulaw', rateHz: 8000 };
/** Mu-law code for a zero sample (positive zero), the silence that pads frames. */
export const MULAW_SILENCE = 0xff;

/** The largest Opus packet of up to 20 ms (RFC 6716 §3.2.1: one byte of header, 1275 of frame). */
export const MOST_OPUS_FRAME_BYTES = 1276;

/**
 * Bytes of one 20 ms frame in a leg's own format: 160 for mu-law 8 kHz, 640 for PCM 16 kHz; of Opus, whose frames
 * differ, the most.
 */
export function frameBytesOf(format: LegFormat): number {
  if (format.codec === 'opus') return MOST_OPUS_FRAME_BYTES;
  const samples = (format.rateHz * FRAME_MS) / 1000;
  return format.codec === 'mulaw' ? samples : samples * 2;
}

/**
 * What the agent's speech is made in, before a leg's codec: Opus is encoded from 16 kHz (a
 * wideband voice needs no more).
 */
export function voiceFormatOf(format: LegFormat): LegFormat {
  return format.codec === 'opus' ? { codec: 'pcm_s16le', rateHz: 16000 } : format;
}

/** The byte that silence is made of in a leg's format. */
export function silenceByteOf(format: LegFormat): number {
  return format.codec === 'mulaw' ? MULAW_SILENCE : 0;
}
