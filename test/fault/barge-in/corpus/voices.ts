/**
 * Who speaks: Flite's voices, higher or lower and so faster or slower, and espeak-ng where the machine has it (the
 * package `espeak-ng`). Without it German words are read by an English voice from a spelling that sounds like them.
 */
import { spawnSync } from 'node:child_process';
import { createResampler } from '../../../../media/audio/resampler.ts';
import { FLITE_RATE_HZ, type FliteVoice, loadFliteVoice } from '../../../../media/engines/local/flite-voice.ts';
import type { Phrase, Speaker } from './phrases.ts';

export interface Voices {
  hasEspeak: boolean;
  /** 8 kHz, from the first sound to the last. `random` varies the speaker a little. */
  speak(phrase: Phrase, speaker: Speaker, random: () => number): Promise<Int16Array>;
}

export const CORPUS_RATE_HZ = 8_000;
const QUIET_SAMPLE = 120;
const WAV_HEADER_BYTES = 44;
const BY_EAR: Readonly<Record<string, string>> = {
  aber: 'ahbah',
  ach: 'ahk',
  alles: 'ahless',
  danke: 'dahnka',
  eine: 'ina',
  einen: 'inen',
  falsch: 'fahlsh',
  frage: 'frahga',
  genau: 'gunnow',
  gut: 'goot',
  habe: 'hahba',
  ich: 'ish',
  ja: 'yah',
  kann: 'kahn',
  klar: 'klah',
  mal: 'mahl',
  moment: 'mo ment',
  morgen: 'morgun',
  nein: 'nine',
  nicht: 'nisht',
  richtig: 'rishtish',
  sie: 'zee',
  so: 'zo',
  stimmt: 'shtimt',
  stopp: 'shtop',
  tisch: 'tish',
  verstehe: 'fairshtaya',
  warten: 'vahrtun',
};

export async function loadVoices(): Promise<Voices> {
  const flite = await loadFliteVoice();
  const hasEspeak = spawnSync('espeak-ng', ['--version']).status === 0;
  return {
    hasEspeak,
    async speak({ text, language }, speaker, random) {
      const little = 0.97 + 0.06 * random();
      if (speaker.engine === 'espeak' && hasEspeak) return trimmed(await spokenByEspeak(text, speaker.voice, little));
      const isRead = language === 'de';
      const words = isRead ? text.replace(/[a-z]+/g, (word) => BY_EAR[word] ?? word) : text;
      const voice = speaker.engine === 'espeak' ? 'awb' : speaker.voice;
      return trimmed(await spokenByFlite(flite, words, voice, (speaker.pitch ?? 1) * little));
    },
  };
}

async function spokenByFlite(flite: FliteVoice, text: string, voice: string, pitch: number): Promise<Int16Array> {
  const samples = flite.speak({ text, voice, isFirst: true, end: 'text' });
  return resampled(samples, Math.round(FLITE_RATE_HZ * pitch));
}

async function spokenByEspeak(text: string, voice: string, little: number): Promise<Int16Array> {
  const args = ['-v', voice, '-s', String(Math.round(150 * little)), '-p', String(Math.round(50 * little)), '--stdout'];
  const { stdout, status } = spawnSync('espeak-ng', [...args, text], { maxBuffer: 1 << 25 });
  if (status !== 0) throw new Error(`espeak-ng could not say “${text}” as ${voice}`);
  const bytes = stdout.subarray(WAV_HEADER_BYTES);
  const samples = new Int16Array(bytes.length >> 1);
  for (let i = 0; i < samples.length; i++) samples[i] = bytes.readInt16LE(2 * i);
  return resampled(samples, stdout.readUInt32LE(24));
}

async function resampled(samples: Int16Array, fromHz: number): Promise<Int16Array> {
  const resampler = await createResampler(fromHz, CORPUS_RATE_HZ);
  const parts = [resampler.process(samples).slice(), resampler.flush().slice()];
  resampler.close();
  return Int16Array.from([...parts[0]!, ...parts[1]!]);
}

function trimmed(samples: Int16Array): Int16Array {
  let from = 0;
  let to = samples.length;
  while (from < to && Math.abs(samples[from]!) < QUIET_SAMPLE) from++;
  while (to > from && Math.abs(samples[to - 1]!) < QUIET_SAMPLE) to--;
  return samples.slice(from, to);
}
