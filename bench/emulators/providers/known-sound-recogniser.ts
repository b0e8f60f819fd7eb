/**
 * Ears that know what they hear: they have the sound of each phrase, as emulated callers say it, and find it again in
 * what comes, frame by frame. They hear nothing else. It costs next to nothing, so that hundreds may be heard at once
 * and on time, which a decoder cannot. Started by `main.ts` for `--known-voice` and `--known-sounds`.
 */
import { decodeMulaw } from '../../../media/audio/g711.ts';
import { MULAW_8K } from '../../../media/contract/audio-format.ts';
import type { TimedWord } from '../../../media/engines/local/rejection.ts';
import { loadVoiceActivity } from '../../../media/engines/local/voice-activity.ts';
import { startLocalEngines } from '../callees/local-engines.ts';
import type { HeardWords, WordRecogniser } from './word-recogniser.ts';

const FRAME_MS = 20;
const FRAME_SAMPLES = (MULAW_8K.rateHz * FRAME_MS) / 1000;
/** Frames that are quieter are the same in many phrases. */
const LOUD_SAMPLE = 1_000;

/** A frame of a phrase's, and the words that have ended with it. */
interface Place {
  phrase: Phrase;
  frame: number;
}

interface Phrase {
  words: { word: string; startMs: number; endMs: number }[];
}

/** What a caller says, and how it sounds: mu-law of 8 kHz, whose first frame begins with its first byte. */
export interface KnownSound {
  text: string;
  mulaw: Uint8Array;
}

/** As emulated callees of `voice` say them. */
export async function soundsOfVoice(
  voice: string,
  phrases: readonly string[],
  onDeath: (error: Error) => void,
): Promise<KnownSound[]> {
  const { engines, close } = await startLocalEngines(onDeath, false);
  const sounds: KnownSound[] = [];
  for (const text of phrases) sounds.push({ text, mulaw: await engines.renderer.render(voice, text) });
  await close();
  return sounds;
}

export async function startKnownSoundRecogniser(sounds: readonly KnownSound[]): Promise<WordRecogniser> {
  const createVoiceActivity = await loadVoiceActivity();
  const places = new Map<string, Place>();
  for (const { text, mulaw } of sounds) index(places, text, mulaw);
  return {
    open: (_rateHz, _phrases, onWords) => new KnownStretch(places, onWords),
    createVoiceActivity,
    tellsVoices: false,
    close: async () => {},
  };
}

function index(places: Map<string, Place>, text: string, mulaw: Uint8Array): void {
  const samples = new Int16Array(mulaw.length);
  decodeMulaw(mulaw, 0, mulaw.length, samples, 0);
  const loud: number[] = [];
  const phrase: Phrase = { words: [] };
  for (let frame = 0; (frame + 1) * FRAME_SAMPLES <= samples.length; frame++) {
    const key = keyOf(samples.subarray(frame * FRAME_SAMPLES, (frame + 1) * FRAME_SAMPLES));
    if (key === null) continue;
    loud.push(frame);
    if (!places.has(key)) places.set(key, { phrase, frame });
  }
  // Each word has its share of the sound, by its letters.
  const [fromMs, toMs] = [(loud[0] ?? 0) * FRAME_MS, ((loud.at(-1) ?? 0) + 1) * FRAME_MS];
  const words = text.toLowerCase().match(/[\p{L}']+/gu) ?? [];
  const letters = words.join('').length;
  let at = 0;
  for (const word of words) {
    const startMs = fromMs + ((toMs - fromMs) * at) / letters;
    at += word.length;
    phrase.words.push({ word, startMs, endMs: fromMs + ((toMs - fromMs) * at) / letters });
  }
}

/** Null: too quiet to be told from others. */
function keyOf(samples: Int16Array): string | null {
  let peak = 0;
  for (const sample of samples) peak = Math.max(peak, Math.abs(sample));
  if (peak < LOUD_SAMPLE) return null;
  return Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength).toString('latin1');
}

class KnownStretch {
  readonly #places: ReadonlyMap<string, Place>;
  readonly #onWords: (heard: HeardWords) => void;
  #frames = 0;
  readonly #words: TimedWord[] = [];
  #phrase: Phrase | null = null;
  /** Of the phrase, how many words were told. */
  #told = 0;
  #isOver = false;

  constructor(places: ReadonlyMap<string, Place>, onWords: (heard: HeardWords) => void) {
    this.#places = places;
    this.#onWords = onWords;
  }

  push(samples: Int16Array): void {
    const frame = this.#frames++;
    const key = this.#isOver ? null : keyOf(samples);
    const place = key === null ? undefined : this.#places.get(key);
    if (place === undefined) return;
    const { phrase } = place;
    if (phrase !== this.#phrase) this.#told = 0;
    this.#phrase = phrase;
    const shiftMs = (frame - place.frame) * FRAME_MS;
    const heardMs = (place.frame + 1) * FRAME_MS;
    const before = this.#words.length;
    for (let next = phrase.words[this.#told]; next !== undefined && next.endMs <= heardMs; ) {
      const startMs = Math.max(0, next.startMs + shiftMs);
      this.#words.push({ word: next.word, startMs, endMs: Math.max(startMs, next.endMs + shiftMs), confidence: 0.99 });
      next = phrase.words[++this.#told];
    }
    if (this.#words.length > before) this.#tell({ final: false, concluded: false });
  }

  conclude(): void {
    if (!this.#isOver) this.#tell({ final: false, concluded: true });
  }

  goOn(): void {}

  finish(): void {
    if (this.#isOver) return;
    this.#tell({ final: true, concluded: false });
    this.#isOver = true;
  }

  cancel(): void {
    this.#isOver = true;
  }

  /** Later, as a decoder would. */
  #tell(how: Pick<HeardWords, 'final' | 'concluded'>): void {
    const words = [...this.#words];
    setImmediate(() => {
      if (how.final || !this.#isOver) this.#onWords({ words, ...how });
    });
  }
}
