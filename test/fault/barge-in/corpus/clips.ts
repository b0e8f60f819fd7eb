/**
 * The clips of a plan: what each case's caller says or does, at its level, and the noise of its room so many decibels
 * below. Listened to by `cast.ts`, written to files by `run.ts` before the first call.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRandom } from '../../../../bench/harness/seeded-random.ts';
import { WAV_HEADER_BYTES, writeWavHeader } from '../../../../media/audio/wav.ts';
import type { Case } from '../plan.ts';
import { babble, breath, cough, doorSlam, keyboard, music, room } from './noises.ts';
import { type Language, SETS, type SetName, type Speaker } from './phrases.ts';
import { CORPUS_RATE_HZ, type Voices } from './voices.ts';

export interface CaseClips {
  /** Of the case's own sound. */
  path: string;
  ms: number;
  /** Of what opens the call, where the caller does. */
  openingPath: string | null;
  openingMs: number;
  roomPath: string;
}

/** Mean power of speech on a telephone, dBFS. */
const SPEECH_DBFS = -24;

/** Samples of 16 bits that may be louder than such a one can be. */
export interface CaseSound {
  sound: Float64Array;
  opening: Float64Array | null;
  room: Float64Array;
}

/** The same case has the same sound. */
export async function soundOfCase(one: Case, set: SetName, voices: Voices): Promise<CaseSound> {
  const random = createRandom(one.seed);
  const phrases = SETS[set];
  const speechDbfs = SPEECH_DBFS + one.louderDb;
  const spoken = async (text: string, language: Language, speaker: Speaker): Promise<Float64Array> =>
    atPower(Float64Array.from(await voices.speak({ text, language }, speaker, random)), speechDbfs);
  const sound = await soundOf();
  const opening = one.opens === null ? null : await spoken(one.opens, 'en', one.openingSpeaker);
  return { sound, opening, room: atPower(room(random), speechDbfs - one.snrDb) };

  async function soundOf(): Promise<Float64Array> {
    switch (one.kind) {
      case 'cough':
        return atPeak(cough(random), speechDbfs + 14);
      case 'breath':
        return atPower(breath(random), speechDbfs - 10);
      case 'door':
        return atPeak(doorSlam(random), speechDbfs + 12);
      case 'keyboard':
        return atPeak(keyboard(random), speechDbfs + 4);
      case 'music':
        return atPower(music(random), speechDbfs - 6);
      case 'babble': {
        const said: Int16Array[] = [];
        for (const text of phrases.babble)
          for (const speaker of phrases.speakers.en)
            said.push(await voices.speak({ text, language: 'en' }, speaker, random));
        return atPower(babble(said, random), speechDbfs - 10);
      }
      default:
        return spoken(one.says, one.language, one.speaker);
    }
  }
}

export async function writeClips(one: Case, set: SetName, voices: Voices, folder: string): Promise<CaseClips> {
  const write = (name: string, samples: Float64Array): string => {
    const path = join(folder, `${one.id}-${name}.wav`);
    writeFileSync(path, wavOf(samples));
    return path;
  };
  const { sound, opening, room } = await soundOfCase(one, set, voices);
  return {
    path: write('sound', sound),
    ms: msOf(sound),
    openingPath: opening === null ? null : write('opening', opening),
    openingMs: opening === null ? 0 : msOf(opening),
    roomPath: write('room', room),
  };
}

const msOf = (samples: Float64Array): number => (samples.length * 1000) / CORPUS_RATE_HZ;

function atPower(samples: Float64Array, dbfs: number): Float64Array {
  const rms = Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length) || 1;
  const gain = (32_768 * 10 ** (dbfs / 20)) / rms;
  return samples.map((sample) => sample * gain);
}

function atPeak(samples: Float64Array, dbfs: number): Float64Array {
  const gain = 32_768 * 10 ** (Math.min(0, dbfs) / 20);
  return samples.map((sample) => sample * gain);
}

function wavOf(samples: Float64Array): Buffer {
  const wav = Buffer.alloc(WAV_HEADER_BYTES + 2 * samples.length);
  writeWavHeader(wav, { codec: 'pcm_s16le', rateHz: CORPUS_RATE_HZ, channels: 1, dataBytes: 2 * samples.length });
  for (let i = 0; i < samples.length; i++)
    wav.writeInt16LE(Math.max(-32_768, Math.min(32_767, Math.round(samples[i]!))), WAV_HEADER_BYTES + 2 * i);
  return wav;
}
