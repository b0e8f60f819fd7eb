/** Times of words that run backwards, or are none: of each engine that tells times, each word comes in its order. */
import { afterEach, describe, expect, it } from 'vitest';
import type { SpeechChunk } from '../../../../media/contract/engines.ts';
import { EARS, VOICES } from '../../../../media/engines/registry.ts';
import { EarBench } from './call-ear-conformance.ts';
import { EAR_CASES, VOICE_CASES } from './fake-engines.ts';

type Json = Record<string, unknown>;

let close: (() => void | Promise<void>) | undefined;
afterEach(() => close?.());

/** Lists of moments, and the two ends of each word, the other way round. */
function backwards(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(backwards);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.fromEntries(
    Object.entries(value as Json).map(([name, one]) => {
      const isMoments = /start|end/i.test(name) && Array.isArray(one);
      return [name, isMoments ? (one as unknown[]).toReversed() : backwards(one)];
    }),
  );
  const isWord = 'word' in fields || 'text' in fields;
  return isWord && typeof fields['end'] === 'number'
    ? { ...fields, start: fields['end'], end: fields['start'] }
    : fields;
}

/** Each second word a second earlier. */
function zigzag(value: unknown): unknown {
  if (Array.isArray(value))
    return value.map((one, i) => {
      const { start, end } = (one ?? {}) as Json;
      const isWord = typeof start === 'number' && typeof end === 'number';
      // Seconds of one provider, milliseconds of another.
      const back = Number.isInteger(start) ? 1_000 : 1;
      return isWord && i % 2 === 1 ? { ...(one as Json), start: start - back, end: end - back } : zigzag(one);
    });
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value as Json).map(([name, one]) => [name, zigzag(one)]));
}

/** Of words alone: they have become texts. */
function untimed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(untimed);
  if (typeof value !== 'object' || value === null) return value;
  const isWord = 'word' in value || 'text' in value;
  return Object.fromEntries(
    Object.entries(value as Json).map(([name, one]) =>
      isWord && (name === 'start' || name === 'end') ? [name, String(one)] : [name, untimed(one)],
    ),
  );
}

/** Of words alone. */
function nowhere(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(nowhere);
  if (typeof value !== 'object' || value === null) return value;
  const isWord = 'word' in value || 'text' in value;
  return Object.fromEntries(
    Object.entries(value as Json).map(([name, one]) =>
      isWord && (name === 'start' || name === 'end') ? [name, 0] : [name, nowhere(one)],
    ),
  );
}

const WAYS = { backwards, zigzag, untimed, nowhere };

const ears = EARS.filter(({ traits }) => traits.tellsWordTimes).map(({ name }) => name);
describe.each(Object.entries(WAYS))('times that are told %s', (_way, change) => {
  it.each(ears)('are put in order, and every word is heard: %s', async (engine) => {
    const bench = await EarBench.open(EAR_CASES[engine]!['mu-law 8 kHz']!, (message) => [change(message)]);
    close = bench.opened.close;
    await bench.silence(400);
    for (const [turn, text] of ['yes please no', 'no thank you'].entries()) {
      const final = await bench.turn(turn, text);
      const times = final.words!.flatMap(({ startMs, endMs }) => [startMs, endMs]);
      expect([final.text, times]).toEqual([text, times.toSorted((a, b) => a - b)]);
      expect(times.at(-1)).toBeLessThanOrEqual(bench.atMs);
      await bench.silence(400);
    }
    expect(bench.failures).toEqual([]);
  });
});

const voices = VOICES.filter(({ traits }) => traits.tellsWordTimes).map(({ name }) => name);
it.each(voices)('of a voice’s words are put in order, inside of the sound: %s', async (engine) => {
  const opened = await VOICE_CASES[engine]!((message) => [backwards(message)]);
  close = opened.close;
  const text = 'Good morning, how are you?';
  const chunks: SpeechChunk[] = [];
  const voice = opened.voicesOfProvider!.at(-1)!;
  await opened.voice.synthesize({ text, voice, signal: new AbortController().signal }, (chunk) => chunks.push(chunk));
  let atMs = 0;
  const words = chunks.flatMap(({ words: told = [], samples }) => {
    const fromMs = atMs;
    atMs += (samples.length * 1_000) / opened.voice.outputRateHz;
    return told.map((word) => ({ ...word, startMs: fromMs + word.startMs, endMs: fromMs + word.endMs }));
  });
  expect(words.map(({ charStart, charEnd }) => text.slice(charStart, charEnd))).toEqual(text.split(' '));
  const times = words.flatMap(({ startMs, endMs }) => [startMs, endMs]);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(times.at(-1)).toBeLessThanOrEqual(atMs + 1);
});
