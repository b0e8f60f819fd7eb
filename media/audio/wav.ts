/**
 * The 44-byte RIFF/WAVE header, written and read, for G.711 mu-law and 16-bit PCM. The recorder's segments carry it, so
 * that what a crash leaves behind is playable and says its own format. Only headers of exactly this shape are read: we
 * read what we wrote.
 *
 *   0 "RIFF" │ 4 size - 8 │ 8 "WAVE" │ 12 "fmt " │ 16 = 16 │ 20 format tag │ 22 channels │ 24 rate
 *   28 bytes per second │ 32 bytes per sample of all channels │ 34 bits per sample │ 36 "data" │ 40 data bytes
 *   (little-endian)
 */
import type { LegFormat } from '../contract/audio-format.ts';

export const WAV_HEADER_BYTES = 44;
/** WAVE_FORMAT_PCM and WAVE_FORMAT_MULAW. */
const TAG_PCM = 1;
const TAG_MULAW = 7;

export interface WavShape {
  codec: LegFormat['codec'];
  rateHz: number;
  channels: number;
  dataBytes: number;
}

/** Writes the header to `target` from `start` (default 0). */
export function writeWavHeader(target: Uint8Array, shape: WavShape, start = 0): void {
  const view = new DataView(target.buffer, target.byteOffset + start, WAV_HEADER_BYTES);
  const sampleBytes = shape.codec === 'mulaw' ? 1 : 2;
  writeTag(view, 0, 'RIFF');
  view.setUint32(4, WAV_HEADER_BYTES - 8 + shape.dataBytes, true);
  writeTag(view, 8, 'WAVE');
  writeTag(view, 12, 'fmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, shape.codec === 'mulaw' ? TAG_MULAW : TAG_PCM, true);
  view.setUint16(22, shape.channels, true);
  view.setUint32(24, shape.rateHz, true);
  view.setUint32(28, shape.rateHz * shape.channels * sampleBytes, true);
  view.setUint16(32, shape.channels * sampleBytes, true);
  view.setUint16(34, sampleBytes * 8, true);
  writeTag(view, 36, 'data');
  view.setUint32(40, shape.dataBytes, true);
}

/**
 * The shape that the header at the start of `bytes` states, or null when it is not one that `writeWavHeader` writes.
 */
export function readWavHeader(bytes: Uint8Array): WavShape | null {
  if (bytes.length < WAV_HEADER_BYTES) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, WAV_HEADER_BYTES);
  const shape: WavShape = {
    codec: view.getUint16(20, true) === TAG_MULAW ? 'mulaw' : 'pcm_s16le',
    rateHz: view.getUint32(24, true),
    channels: view.getUint16(22, true),
    dataBytes: view.getUint32(40, true),
  };
  const again = new Uint8Array(WAV_HEADER_BYTES);
  writeWavHeader(again, shape);
  for (let i = 0; i < WAV_HEADER_BYTES; i++) if (again[i] !== bytes[i]) return null;
  return shape;
}

function writeTag(view: DataView, at: number, text: string): void {
  for (let i = 0; i < 4; i++) view.setUint8(at + i, text.charCodeAt(i));
}
