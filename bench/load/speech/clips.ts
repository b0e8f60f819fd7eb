/**
 * What far ends say, as mu-law frames ready to be sent: sentences of the tool's own, said by the embedded voice, or WAV
 * files of the workload's. Made once before a run begins, in each process that speaks.
 */
import { readFile } from 'node:fs/promises';
import { encodeMulaw } from '../../../media/audio/g711.ts';
import { createResampler } from '../../../media/audio/resampler.ts';
import { loadFliteVoice } from '../../../media/engines/local/flite-voice.ts';
import { wavSamples } from '../../emulators/callees/steady-callee.ts';
import type { Talk } from '../contract/workload.ts';
import { type Clip, clipOf } from '../far-end/said-sound.ts';

/** The agents that the tool starts itself understand these; others hear a person who asks. */
export const OWN_SENTENCES = [
  'what are your opening hours',
  'on which street are you',
  'yes please',
  'tell me the whole menu please',
  'no thank you',
] as const;
/** Not the voice of those agents. */
const CALLERS_VOICE = 'rms';

const VOICE_RATE_HZ = 16_000;
const LINE_RATE_HZ = 8_000;
/** About -48 dBFS: what is quieter at the ends of a clip is cut off, so that a clip ends with its last sound. */
const QUIET_SAMPLE = 130;

/** Mu-law, 8 kHz, from the first sound to the last. */
type Sound = Uint8Array;

/** Of every `talk` that a run may meet: the tool's own sentences, and files by their paths. */
export class Clips {
  #own: Promise<readonly Sound[]> | null = null;
  readonly #files = new Map<string, Promise<Sound>>();
  readonly #frames = new Map<Sound, Clip>();

  /** Resolves when the tool's own sentences are there. Until somebody asks, nothing is said. */
  async ready(): Promise<void> {
    await this.#ownSounds();
  }

  /** Never empty. Rejects with the fault of a file that is no 8 kHz mono 16-bit WAV, or holds silence alone. */
  async of(talk: Talk): Promise<readonly Sound[]> {
    if (talk.kind !== 'turns' || talk.clips.length === 0) return this.#ownSounds();
    return Promise.all(talk.clips.map((path) => this.#file(path)));
  }

  /** The same, cut into frames once for all calls. */
  async framesOf(talk: Talk): Promise<readonly Clip[]> {
    return (await this.of(talk)).map((sound) => {
      const known = this.#frames.get(sound);
      if (known !== undefined) return known;
      const clip = clipOf(sound);
      this.#frames.set(sound, clip);
      return clip;
    });
  }

  #ownSounds(): Promise<readonly Sound[]> {
    this.#own ??= ownSounds().then((sounds) => sounds.map(({ mulaw }) => mulaw));
    return this.#own;
  }

  #file(path: string): Promise<Sound> {
    let clip = this.#files.get(path);
    if (clip === undefined) {
      clip = readFile(path).then((file) => {
        const sound = loud(wavSamples(file, path));
        if (sound.length === 0) throw new Error(`${path} holds no sound`);
        return asMulaw(sound);
      });
      clip.catch(() => {});
      this.#files.set(path, clip);
    }
    return clip;
  }
}

/** The tool's own sentences, as its callers say them. */
export async function ownSounds(): Promise<readonly { text: string; mulaw: Sound }[]> {
  const flite = await loadFliteVoice();
  const sounds: { text: string; mulaw: Sound }[] = [];
  for (const text of OWN_SENTENCES) {
    const spoken = flite.speak({ text, voice: CALLERS_VOICE, isFirst: true, end: 'sentence' });
    const resampler = await createResampler(VOICE_RATE_HZ, LINE_RATE_HZ);
    sounds.push({ text, mulaw: asMulaw(loud(resampler.process(spoken).slice())) });
    resampler.close();
  }
  return sounds;
}

function loud(samples: Int16Array): Int16Array {
  let from = 0;
  let to = samples.length;
  while (from < to && Math.abs(samples[from]!) < QUIET_SAMPLE) from++;
  while (to > from && Math.abs(samples[to - 1]!) < QUIET_SAMPLE) to--;
  return samples.subarray(from, to);
}

function asMulaw(samples: Int16Array): Sound {
  const mulaw = new Uint8Array(samples.length);
  encodeMulaw(samples, 0, samples.length, mulaw, 0);
  return mulaw;
}
