/**
 * A file that somebody sent → a clip: one channel at 24 kHz, brought to -16 LUFS with its peaks under -1 dBFS, in a
 * WAV. Runs in the clip process (`main.ts`), which may die of it. Throws `ClipRefused` with a
 * sentence for whoever sent it.
 */
import { integratedLufs } from '../audio/loudness.ts';
import { limited } from '../audio/peak-limiter.ts';
import { createResampler } from '../audio/resampler.ts';
import { WAV_HEADER_BYTES, writeWavHeader } from '../audio/wav.ts';
import { readWav, WavCodecUnknown, WavError } from '../audio/wav-reader.ts';
import { CLIP_LUFS, CLIP_RATE_HZ, type ClipVerdict, LONGEST_CLIP_MS } from '../contract/clip.ts';
import { ClipRefused, NotReadHere, tooLong } from './clip-refused.ts';
import { decodeWithFfmpeg, FFMPEG_RATE_HZ } from './decode-ffmpeg.ts';
import { decodeOpus, OPUS_RATE_HZ } from './decode-opus.ts';
import { soundPacketsOfOgg } from './ogg-check.ts';
import { isEncryptedMp4, isMp4, soundKindOf } from './sound-kind.ts';
import { soundBlocksOfWebm } from './webm-check.ts';

interface Sound {
  kind: string;
  rateHz: number;
  monoSamples: Float32Array;
}

const SHORTEST_CLIP_MS = 100;
const RATES_HZ = { least: 4_000, most: 192_000 };
const PEAK = 10 ** (-1 / 20);
/** The resampler takes 16 bits: what is quiet must not be lost in them. */
const PEAK_BEFORE_RESAMPLER = 0.9;
const QUIETEST_PEAK = 10 ** (-70 / 20);
/** Limited peaks cost loudness, which more gain gives back. */
const MOST_ROUNDS = 10;
const CLOSE_ENOUGH_LU = 0.2;

export async function convertClip(file: Uint8Array): Promise<Extract<ClipVerdict, { ok: true }>> {
  if (file.length === 0) throw new ClipRefused('it is empty');
  const sound = await decoded(file);
  const seconds = sound.monoSamples.length / sound.rateHz;
  if (seconds * 1000 > LONGEST_CLIP_MS) throw tooLong();
  if (seconds * 1000 < SHORTEST_CLIP_MS) throw new ClipRefused('it holds less than a tenth of a second of sound');
  const samples = await atClipRate(sound);
  const { normalised, loudnessLufs } = atClipLoudness(samples);
  const durationMs = Math.round((normalised.length * 1000) / CLIP_RATE_HZ);
  return { ok: true, wav: wavOf(normalised), durationMs, loudnessLufs, kind: sound.kind };
}

async function decoded(file: Uint8Array): Promise<Sound> {
  const kind = soundKindOf(file);
  try {
    if (kind === 'ogg_opus') {
      const monoSamples = await decodeOpus(file, 'ogg', soundPacketsOfOgg(file));
      return { kind: 'ogg_opus', rateHz: OPUS_RATE_HZ, monoSamples };
    }
    if (kind === 'webm') {
      const monoSamples = await decodeOpus(file, 'webm', soundBlocksOfWebm(file));
      return { kind: 'webm_opus', rateHz: OPUS_RATE_HZ, monoSamples };
    }
    if (kind === 'wav') return { kind: 'wav', ...readWav(file, LONGEST_CLIP_MS / 1000 + 1) };
  } catch (error) {
    if (error instanceof WavError) throw new ClipRefused(`WAV: ${error.message}`);
    if (!(error instanceof NotReadHere || error instanceof WavCodecUnknown)) throw error;
  }
  if (isEncryptedMp4(file)) throw new ClipRefused('the MP4 file is encrypted; send one that is not');
  const why = kind === 'other' ? 'it is no Ogg Opus, WebM Opus or WAV' : `it is a rarer form of ${NAMES[kind]}`;
  const monoSamples = await decodeWithFfmpeg({ file, seekable: isMp4(file), why });
  return { kind: 'other', rateHz: FFMPEG_RATE_HZ, monoSamples };
}

const NAMES = { ogg_opus: 'Ogg Opus', webm: 'WebM', wav: 'WAV' } as const;

async function atClipRate({ rateHz, monoSamples }: Sound): Promise<Float32Array> {
  if (rateHz < RATES_HZ.least || rateHz > RATES_HZ.most) {
    throw new ClipRefused(`it says ${rateHz} Hz; ${RATES_HZ.least} to ${RATES_HZ.most} are read`);
  }
  const peak = monoSamples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  if (peak < QUIETEST_PEAK) throw new ClipRefused('it is silent');
  const scale = (PEAK_BEFORE_RESAMPLER / peak) * 32_767;
  const whole = Int16Array.from(monoSamples, (sample) => Math.round(sample * scale));
  if (rateHz === CLIP_RATE_HZ) return Float32Array.from(whole, (sample) => sample / 32_768);
  const resampler = await createResampler(rateHz, CLIP_RATE_HZ);
  const pieces: Int16Array[] = [];
  // A second at a time: the resampler makes room for the longest piece that it was given.
  for (let at = 0; at < whole.length; at += rateHz)
    pieces.push(resampler.process(whole.subarray(at, at + rateHz)).slice());
  pieces.push(resampler.flush().slice());
  resampler.close();
  const result = new Float32Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) for (const sample of piece) result[at++] = sample / 32_768;
  return result;
}

function atClipLoudness(samples: Float32Array): { normalised: Float32Array; loudnessLufs: number } {
  const before = integratedLufs(samples, CLIP_RATE_HZ);
  if (before === Number.NEGATIVE_INFINITY) throw new ClipRefused('it is silent');
  let gainDb = CLIP_LUFS - before;
  for (let round = 1; ; round++) {
    const normalised = limited(samples, CLIP_RATE_HZ, 10 ** (gainDb / 20), PEAK);
    const loudnessLufs = integratedLufs(normalised, CLIP_RATE_HZ);
    const missingLu = CLIP_LUFS - loudnessLufs;
    if (Math.abs(missingLu) <= CLOSE_ENOUGH_LU || round === MOST_ROUNDS) {
      return { normalised, loudnessLufs: Math.round(loudnessLufs * 100) / 100 };
    }
    gainDb += missingLu;
  }
}

function wavOf(samples: Float32Array): Uint8Array {
  const wav = new Uint8Array(WAV_HEADER_BYTES + samples.length * 2);
  writeWavHeader(wav, { codec: 'pcm_s16le', rateHz: CLIP_RATE_HZ, channels: 1, dataBytes: samples.length * 2 });
  const view = new DataView(wav.buffer, WAV_HEADER_BYTES);
  for (let i = 0; i < samples.length; i++) view.setInt16(2 * i, Math.round(samples[i]! * 32_767), true);
  return wav;
}
