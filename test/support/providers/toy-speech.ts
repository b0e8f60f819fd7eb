/**
 * Speech that fakes can hear: each word is 200 ms of a steady level of its own, with 40 ms of silence behind it. What a
 * fake recogniser says comes from the sound alone, silence gives none.
 */
import { encodeMulaw } from '../../../media/audio/g711.ts';

export const TOY_WORDS = ['yes', 'no', 'please', 'thank', 'you', 'monday', 'tuesday', 'good', 'morning', 'stranger'];
export const TOY_WORD_MS = 200;
export const TOY_GAP_MS = 40;
const STEP = 2_000;

export function toySpeech(text: string, rateHz: number): Int16Array {
  const perMs = rateHz / 1000;
  const words = text.split(' ');
  const samples = new Int16Array(words.length * (TOY_WORD_MS + TOY_GAP_MS) * perMs);
  words.forEach((word, i) => {
    const from = i * (TOY_WORD_MS + TOY_GAP_MS) * perMs;
    samples.fill((TOY_WORDS.indexOf(word) + 1) * STEP, from, from + TOY_WORD_MS * perMs);
  });
  return samples;
}

/** The word of one sample; null: silence. */
export function toyWordOf(sample: number): string | null {
  return TOY_WORDS[Math.round(sample / STEP) - 1] ?? null;
}

export const CHAR_MS = 50;

/** What a fake voice makes of characters: each sounds for `CHAR_MS`, a space is silent. PCM has 16 kHz. */
export function soundOfChars(chars: readonly string[], isMulaw: boolean): Buffer {
  const perChar = ((isMulaw ? 8000 : 16_000) * CHAR_MS) / 1000;
  const samples = new Int16Array(chars.length * perChar);
  chars.forEach((char, i) => {
    if (char !== ' ') samples.fill(8_000, i * perChar, (i + 1) * perChar);
  });
  const bytes = Buffer.alloc(isMulaw ? samples.length : samples.length * 2);
  if (isMulaw) encodeMulaw(samples, 0, samples.length, bytes, 0);
  else for (let i = 0; i < samples.length; i++) bytes.writeInt16LE(samples[i]!, 2 * i);
  return bytes;
}
