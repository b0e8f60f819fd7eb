/** Cartesia behind the port: what is its protocol's own. `conformance.test.ts` asks the port's suite. */
import { afterEach, expect, test } from 'vitest';
import type { SpeechChunk, TextToSpeech } from '../../../../../media/contract/engines.ts';
import { engineOf, VOICES } from '../../../../../media/engines/registry.ts';
import { FakeCartesia } from '../../../../support/providers/fake-cartesia.ts';
import { grantOf, KEY, providerBench, useOf } from '../../../../support/providers/provider-bench.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

const never = new AbortController().signal;
let close = (): void => {};
afterEach(() => close());

async function start(settings: Record<string, unknown> = {}) {
  const clock = new VirtualClock();
  const fake = new FakeCartesia(clock);
  const bench = providerBench(clock, { openSocket: fake.openSocket }, [grantOf('cartesia')]);
  bench.run();
  close = () => bench.close();
  const open = (await engineOf(VOICES, 'voice engine', 'cartesia').load())(() => bench.port);
  return { fake, bench, voice: open(useOf('cartesia', settings)) };
}

async function say(voice: TextToSpeech, text: string, signal = never): Promise<SpeechChunk[]> {
  const chunks: SpeechChunk[] = [];
  await voice.synthesize({ text, voice: 'sonic-ann', signal, takesMulaw: true }, (chunk) => chunks.push(chunk));
  return chunks;
}

/** Words with the times of the whole sound. */
function wordsOf(chunks: readonly SpeechChunk[], text: string) {
  let atMs = 0;
  return chunks.flatMap(({ words = [], samples }) => {
    const fromMs = atMs;
    atMs += samples.length / 8;
    return words.map(({ charStart, charEnd, startMs, endMs }) => ({
      word: text.slice(charStart, charEnd),
      startMs: fromMs + startMs,
      endMs: fromMs + endMs,
    }));
  });
}

test('a text is one context, given whole, in the telephone’s form; the key is in a header alone', async () => {
  const { fake, voice } = await start({ model: 'sonic-3.5', language: 'en-US', speed: 1.2 });
  await say(voice, 'Good morning.');
  expect(fake.last.url.href).toBe('wss://provider.test/tts/websocket');
  expect(fake.last.headers).toMatchObject({ 'x-api-key': KEY, 'cartesia-version': '2026-08-14' });
  expect(fake.last.told).toEqual([
    {
      model_id: 'sonic-3.5',
      voice: { mode: 'id', id: 'sonic-ann' },
      language: 'en',
      output_format: { container: 'raw', encoding: 'pcm_mulaw', sample_rate: 8000 },
      add_timestamps: true,
      max_buffer_delay_ms: 0,
      continue: false,
      generation_config: { speed: 1.2 },
      context_id: expect.any(String),
      transcript: 'Good morning.',
    },
  ]);
});

test('what nobody wants any more is cancelled, its late sound is nobody’s, and its place is free at once', async () => {
  const { fake, voice } = await start();
  const abort = new AbortController();
  let count = 0;
  const cut = voice.synthesize(
    { text: 'A long text goes on.', voice: 'sonic-ann', signal: abort.signal, takesMulaw: true },
    () => {
      count++;
      abort.abort();
    },
  );
  await expect(cut).rejects.toMatchObject({ name: 'AbortError' });
  const next = await say(voice, 'Next.');
  expect(fake.last.told[1]).toEqual({ context_id: fake.last.told[0]!.context_id, cancel: true });
  expect(count).toBe(1);
  // Of the next text alone: five characters.
  expect(next.reduce((sum, { samples }) => sum + samples.length, 0)).toBe(5 * 400);
  expect(fake.sockets).toHaveLength(1);
});

test('times of words that run backwards, or come with words that are not in the text, are put in order', async () => {
  const { fake, voice } = await start();
  const text = 'At 5 pm we open, not earlier.';
  fake.wordTimes = () => ({
    words: ['At', 'five', 'p', 'm', 'we', 'open,', 'not', 'earlier.'],
    start: [0, 0.1, 0.3, 0.35, 0.5, 0.4, 0.2, 1.2],
    end: [0.1, 0.3, 0.35, 0.4, 0.6, 0.3, 0.9, 1.4],
  });
  const words = wordsOf(await say(voice, text), text);
  expect(words.map(({ word }) => word)).toEqual(text.split(' '));
  for (const [i, { startMs, endMs }] of words.entries()) {
    expect(endMs).toBeGreaterThan(startMs);
    expect(startMs).toBeGreaterThanOrEqual(i === 0 ? 0 : words[i - 1]!.endMs - 0.001);
  }
});

test('a limit of the account ends one text alone, as one that may be asked again', async () => {
  const { fake, voice } = await start();
  const other = say(voice, 'The other text is spoken on.');
  while (fake.sockets.length === 0 || fake.last.told.length === 0) await new Promise(setImmediate);
  const limited = say(voice, 'Limited.');
  while (fake.last.told.length < 2) await new Promise(setImmediate);
  fake.last.refuse(fake.last.told[1]!.context_id, 429, 'concurrency_limited');
  await expect(limited).rejects.toMatchObject({ code: 'overloaded' });
  expect((await other).length).toBeGreaterThan(1);
  expect(fake.sockets).toHaveLength(1);
});

test('a socket that is closed with a reason: the words that were not said are said over another', async () => {
  const { fake, voice } = await start();
  const text = 'one two three four five six seven';
  const saying = say(voice, text);
  while ((fake.sockets[0]?.told.length ?? 0) === 0) await new Promise(setImmediate);
  const firstAtMs = fake.clock.nowMs();
  while (fake.clock.nowMs() < firstAtMs + 160) await new Promise(setImmediate);
  fake.sockets[0]!.end({ kind: 'closed', code: 1012, reason: 'restart' });
  const words = wordsOf(await saying, text);
  expect(fake.sockets).toHaveLength(2);
  expect(text.endsWith(fake.sockets[1]!.told[0]!.transcript!)).toBe(true);
  expect(words.map(({ word }) => word)).toEqual(text.split(' '));
});

test('a text whose sound does not stop is cut, and the provider told', async () => {
  const { fake, voice } = await start();
  const saying = say(voice, 'Yes.');
  while (fake.sockets.length === 0 || fake.last.told.length === 0) await new Promise(setImmediate);
  const { context_id } = fake.last.told[0]!;
  const data = Buffer.alloc(10 * 8_000).toString('base64');
  for (let sent = 0; sent < 4; sent++) fake.last.say({ type: 'chunk', context_id, done: false, data });
  await expect(saying).rejects.toThrow('the speech never ends');
  expect(fake.last.told[1]).toEqual({ context_id, cancel: true });
});
