/** Callees that listen to nothing: silence, a tone, a file. For load runs and for tests of the path itself. */
import { readFile } from 'node:fs/promises';
import { encodeMulaw } from '../../../media/audio/g711.ts';
import { MULAW_SILENCE } from '../../../media/contract/audio-format.ts';
import type { Callee } from './callee.ts';

const RATE_HZ = 8_000;
/** About -12 dBFS. */
const TONE_AMPLITUDE = 8_000;

export function createSilentCallee(): Callee {
  return steadyCallee(async () => new Uint8Array(0), false);
}

/** A steady sine; one second is made and repeated, so `toneHz` is rounded to whole periods a second. */
export function createToneCallee(toneHz: number): Callee {
  return steadyCallee(async () => toneSecond(Math.round(toneHz)), true);
}

/** Plays an 8 kHz mono 16-bit WAV once, then is silent. A file is read once, however many callees play it. */
export function createWavCallee(path: string): Callee {
  return steadyCallee(() => wavOf(path), false);
}

const tones = new Map<number, Uint8Array>();
const wavs = new Map<string, Promise<Uint8Array>>();

function wavOf(path: string): Promise<Uint8Array> {
  let wav = wavs.get(path);
  if (wav === undefined) {
    wav = readFile(path).then((file) => wavAsMulaw(file, path));
    wavs.set(path, wav);
    wav.catch(() => wavs.delete(path));
  }
  return wav;
}

function toneSecond(toneHz: number): Uint8Array {
  let tone = tones.get(toneHz);
  if (tone === undefined) {
    const samples = new Int16Array(RATE_HZ);
    for (let i = 0; i < RATE_HZ; i++) {
      samples[i] = Math.round(TONE_AMPLITUDE * Math.sin((2 * Math.PI * toneHz * i) / RATE_HZ));
    }
    tone = new Uint8Array(RATE_HZ);
    encodeMulaw(samples, 0, RATE_HZ, tone, 0);
    tones.set(toneHz, tone);
  }
  return tone;
}

function wavAsMulaw(wav: Buffer, path: string): Uint8Array {
  const samples = wavSamples(wav, path);
  const mulaw = new Uint8Array(samples.length);
  encodeMulaw(samples, 0, samples.length, mulaw, 0);
  return mulaw;
}

/** Of an 8 kHz mono 16-bit WAV; throws, with its path, for any other. */
export function wavSamples(wav: Buffer, path: string): Int16Array {
  const format = wav.toString('latin1', 0, 4) === 'RIFF' ? wav.indexOf('fmt ') : -1;
  const data = wav.indexOf('data', 12, 'latin1');
  const fits =
    format > 0 &&
    data > 0 &&
    wav.readUInt16LE(format + 8) === 1 &&
    wav.readUInt16LE(format + 10) === 1 &&
    wav.readUInt32LE(format + 12) === RATE_HZ &&
    wav.readUInt16LE(format + 22) === 16;
  if (!fits) throw new Error(`${path} is not an 8 kHz mono 16-bit PCM WAV file`);
  const start = data + 8;
  const count = Math.min(wav.readUInt32LE(data + 4), wav.length - start) >> 1;
  const samples = new Int16Array(count);
  for (let i = 0; i < count; i++) samples[i] = wav.readInt16LE(start + i * 2);
  return samples;
}

function steadyCallee(load: () => Promise<Uint8Array>, repeats: boolean): Callee {
  let audio: Uint8Array = new Uint8Array(0);
  let at = 0;
  return {
    async prepare() {
      audio = await load();
    },
    fill(frame) {
      frame.fill(MULAW_SILENCE);
      for (let filled = 0; filled < frame.length && at < audio.length; ) {
        const take = Math.min(frame.length - filled, audio.length - at);
        frame.set(audio.subarray(at, at + take), filled);
        filled += take;
        at += take;
        if (repeats && at === audio.length) at = 0;
      }
    },
    hear() {},
    close() {},
  };
}
