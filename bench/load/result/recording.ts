/**
 * The sound of a call as the report shows it: a stretch of the recording around what went wrong, its peaks to draw and
 * its bytes to play. Recordings are stereo mu-law of 8 kHz behind the header of `media/audio/wav.ts`, as far ends write
 * them; they begin at the answer.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { decodeMulaw } from '../../../media/audio/g711.ts';
import { readWavHeader, WAV_HEADER_BYTES, writeWavHeader } from '../../../media/audio/wav.ts';
import type { WorstCall } from '../contract/run-result.ts';

/** Ten calls of it are 10 MB of report. */
const LONGEST_MS = 45_000;
/** What is before the instant that it is about, where it must be cut. */
const LEAD_MS = 25_000;
const MOST_POINTS = 900;
const RATE_HZ = 8_000;
const CHANNELS = 2;
const FULL_SCALE = 32_124;

export interface Excerpt {
  /** Where it begins in the recording, and how long it is. */
  fromMs: number;
  lengthMs: number;
  waveform: NonNullable<WorstCall['waveform']>;
  soundBase64: string;
}

/** Around `aroundMs` of the recording. Throws where the file is missing, or is no such recording. */
export function readExcerpt(path: string, aroundMs: number): Excerpt {
  const file = openSync(path, 'r');
  try {
    const header = new Uint8Array(WAV_HEADER_BYTES);
    readSync(file, header, 0, WAV_HEADER_BYTES, 0);
    const shape = readWavHeader(header);
    if (shape === null || shape.codec !== 'mulaw' || shape.channels !== CHANNELS || shape.rateHz !== RATE_HZ) {
      throw new Error('it is no stereo mu-law WAV of 8 kHz');
    }
    const inFile = fstatSync(file).size - WAV_HEADER_BYTES;
    // A recording that nobody finished says that it is empty.
    const samples = Math.floor((shape.dataBytes === 0 ? inFile : Math.min(inFile, shape.dataBytes)) / CHANNELS);
    const [from, to] = stretch(samples, aroundMs);
    const sound = new Uint8Array((to - from) * CHANNELS);
    readSync(file, sound, 0, sound.length, WAV_HEADER_BYTES + from * CHANNELS);
    return {
      fromMs: (from * 1_000) / RATE_HZ,
      lengthMs: ((to - from) * 1_000) / RATE_HZ,
      waveform: waveformOf(sound),
      soundBase64: Buffer.concat([headerOf(sound.length), sound]).toString('base64'),
    };
  } finally {
    closeSync(file);
  }
}

/** Of the recording's samples those that are kept: `[from, to)`. */
function stretch(samples: number, aroundMs: number): [number, number] {
  const longest = (LONGEST_MS * RATE_HZ) / 1_000;
  if (samples <= longest) return [0, samples];
  const wanted = Math.round(((aroundMs - LEAD_MS) * RATE_HZ) / 1_000);
  const from = Math.min(samples - longest, Math.max(0, wanted));
  return [from, from + longest];
}

function headerOf(dataBytes: number): Uint8Array {
  const header = new Uint8Array(WAV_HEADER_BYTES);
  writeWavHeader(header, { codec: 'mulaw', rateHz: RATE_HZ, channels: CHANNELS, dataBytes });
  return header;
}

function waveformOf(sound: Uint8Array): Excerpt['waveform'] {
  const samples = new Int16Array(sound.length);
  decodeMulaw(sound, 0, sound.length, samples, 0);
  const lengthMs = (samples.length * 1_000) / (RATE_HZ * CHANNELS);
  const stepMs = Math.max(20, Math.ceil(lengthMs / MOST_POINTS / 10) * 10);
  const stepSamples = (stepMs * RATE_HZ * CHANNELS) / 1_000;
  const sides: [number[], number[]] = [[], []];
  for (let start = 0; start < samples.length; start += stepSamples) {
    const peaks: [number, number] = [0, 0];
    const end = Math.min(samples.length, start + stepSamples);
    for (let i = start; i < end; i++) {
      const side = (i & 1) as 0 | 1;
      peaks[side] = Math.max(peaks[side], Math.abs(samples[i]!));
    }
    sides[0].push(share(peaks[0]));
    sides[1].push(share(peaks[1]));
  }
  return { stepMs, left: sides[0], right: sides[1] };
}

const share = (peak: number): number => Math.round((peak / FULL_SCALE) * 1_000) / 1_000;
