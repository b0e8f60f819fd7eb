/**
 * Where mu-law can be heard: its power in blocks of 5 ms against a fixed level. Called by the judge for every message,
 * so it is one look-up a sample. The level lies above what a codec, dither or a comfort noise leave behind, and below
 * the softest beginning of a word.
 */
import { decodeMulaw } from '../../../media/audio/g711.ts';

/** Of a block, as in a sine's RMS: a tone of -45 dBFS peak. */
const AUDIBLE_DBFS = -48;
const LIMIT = 10 ** (AUDIBLE_DBFS / 10);
export const BLOCK_SAMPLES = 40;
export const SAMPLES_PER_MS = 8;

const powerOf = new Float64Array(256);
{
  const codes = Uint8Array.from({ length: 256 }, (_, code) => code);
  const levels = new Int16Array(256);
  decodeMulaw(codes, 0, 256, levels, 0);
  for (let code = 0; code < 256; code++) powerOf[code] = (levels[code]! / 32_768) ** 2;
}

/** Whether `[start, end)` of `mulaw`, a block or the rest of one, can be heard. */
export function isAudible(mulaw: Uint8Array, start: number, end: number): boolean {
  let sum = 0;
  for (let i = start; i < end; i++) sum += powerOf[mulaw[i]!]!;
  return sum > LIMIT * (end - start);
}
