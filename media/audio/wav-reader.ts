/**
 * Reads a WAV file of any maker into one channel (RIFF WAVE, Multimedia Programming Interface 1.0, and
 * WAVEFORMATEXTENSIBLE): PCM of 8 to 32 bits, IEEE float, mu-law and A-law. Used for sound that users bring; `wav.ts`
 * reads only what we wrote. Sizes that writers of streams leave open (0 or 0xffffffff) mean "to the end".
 */
import { decodeAlaw, decodeMulaw } from './g711.ts';

export interface WavSound {
  rateHz: number;
  /** All channels in one, full scale is 1. */
  monoSamples: Float32Array;
}

/** No WAV, or a damaged one. */
export class WavError extends Error {
  override readonly name = 'WavError';
}

/** A WAV with a codec that is not read here. */
export class WavCodecUnknown extends Error {
  override readonly name = 'WavCodecUnknown';
}

const TAG_PCM = 1;
const TAG_FLOAT = 3;
const TAG_ALAW = 6;
const TAG_MULAW = 7;
const TAG_EXTENSIBLE = 0xfffe;
const MOST_CHANNELS = 32;
const OPEN_SIZES: ReadonlySet<number> = new Set([0, 0xffffffff]);

interface WavFormat {
  tag: number;
  channels: number;
  rateHz: number;
  blockBytes: number;
  sampleBits: number;
}

/** Stops after `mostSeconds`. Throws a `WavError` or a `WavCodecUnknown`. */
export function readWav(bytes: Uint8Array, mostSeconds: number): WavSound {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 12 || tagAt(view, 0) !== 'RIFF' || tagAt(view, 8) !== 'WAVE') throw new WavError('it is no WAV');
  let format: WavFormat | null = null;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const tag = tagAt(view, at);
    const sizeBytes = view.getUint32(at + 4, true);
    const start = at + 8;
    if (tag === 'fmt ') format = formatAt(view, start, sizeBytes);
    if (tag === 'data') {
      if (format === null) throw new WavError('its sound comes before its format');
      const isOpen = OPEN_SIZES.has(sizeBytes);
      if (!isOpen && start + sizeBytes > bytes.length) throw new WavError('it ends in the middle of its sound');
      return soundOf(view, start, isOpen ? bytes.length : start + sizeBytes, format, mostSeconds);
    }
    // A chunk of odd length is followed by one byte of padding.
    at = start + sizeBytes + (sizeBytes & 1);
  }
  throw new WavError('it holds no sound');
}

function formatAt(view: DataView, at: number, sizeBytes: number): WavFormat {
  if (sizeBytes < 16 || at + sizeBytes > view.byteLength) throw new WavError('its format is cut off');
  const stated = view.getUint16(at, true);
  const tag = stated === TAG_EXTENSIBLE && sizeBytes >= 26 ? view.getUint16(at + 24, true) : stated;
  const format: WavFormat = {
    tag,
    channels: view.getUint16(at + 2, true),
    rateHz: view.getUint32(at + 4, true),
    blockBytes: view.getUint16(at + 12, true),
    sampleBits: view.getUint16(at + 14, true),
  };
  if (readerOf(format) === null) throw new WavCodecUnknown(`its codec (format tag ${tag}) is none of WAV's plain ones`);
  const { channels, blockBytes, sampleBits } = format;
  if (channels < 1 || channels > MOST_CHANNELS) throw new WavError(`it says that it has ${channels} channels`);
  if (blockBytes !== (channels * sampleBits) / 8) throw new WavError('its format contradicts itself');
  return format;
}

type SampleReader = (view: DataView, at: number) => number;

const READERS: Readonly<Record<string, SampleReader>> = {
  [`${TAG_PCM}/8`]: (view, at) => (view.getUint8(at) - 128) / 128,
  [`${TAG_PCM}/16`]: (view, at) => view.getInt16(at, true) / 32_768,
  [`${TAG_PCM}/24`]: (view, at) => (view.getInt8(at + 2) * 65_536 + view.getUint16(at, true)) / 8_388_608,
  [`${TAG_PCM}/32`]: (view, at) => view.getInt32(at, true) / 2_147_483_648,
  [`${TAG_FLOAT}/32`]: (view, at) => view.getFloat32(at, true),
  [`${TAG_FLOAT}/64`]: (view, at) => view.getFloat64(at, true),
  [`${TAG_MULAW}/8`]: (view, at) => MULAW_LEVELS[view.getUint8(at)]! / 32_768,
  [`${TAG_ALAW}/8`]: (view, at) => ALAW_LEVELS[view.getUint8(at)]! / 32_768,
};

function readerOf({ tag, sampleBits }: WavFormat): SampleReader | null {
  return READERS[`${tag}/${sampleBits}`] ?? null;
}

function soundOf(view: DataView, start: number, end: number, format: WavFormat, mostSeconds: number): WavSound {
  const { channels, rateHz, blockBytes, sampleBits } = format;
  const read = readerOf(format)!;
  const count = Math.min(Math.floor((end - start) / blockBytes), Math.ceil(rateHz * mostSeconds));
  const monoSamples = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel++) {
      const value = read(view, start + i * blockBytes + (channel * sampleBits) / 8);
      // A float file may hold anything, NaN too.
      sum += value >= -8 && value <= 8 ? value : 0;
    }
    monoSamples[i] = sum / channels;
  }
  return { rateHz, monoSamples };
}

const CODES = Uint8Array.from({ length: 256 }, (_, code) => code);
const MULAW_LEVELS = new Int16Array(256);
const ALAW_LEVELS = new Int16Array(256);
decodeMulaw(CODES, 0, 256, MULAW_LEVELS, 0);
decodeAlaw(CODES, 0, 256, ALAW_LEVELS, 0);

function tagAt(view: DataView, at: number): string {
  return String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3));
}
