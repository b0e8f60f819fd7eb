import { afterEach, expect, test } from 'vitest';
import type { SpeechChunk, TextToSpeech } from '../../../../../media/contract/engines.ts';
import { engineOf, VOICES } from '../../../../../media/engines/registry.ts';
import { CHAR_MS, FakeElevenLabs } from '../../../../support/providers/fake-elevenlabs.ts';
import { CALL, grantOf, KEY, providerBench, useOf } from '../../../../support/providers/provider-bench.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

let close = (): void => {};
afterEach(() => close());

async function started(settings: Record<string, unknown> = {}) {
  const clock = new VirtualClock();
  const fake = new FakeElevenLabs(clock);
  const bench = providerBench(clock, { openSocket: fake.openSocket }, [grantOf('elevenlabs')]);
  close = bench.close;
  bench.desk.told({ type: 'grant', callUuid: 'call-2', grants: [grantOf('elevenlabs')] });
  const stolen = { ...grantOf('elevenlabs'), credentials: { apiKey: 'of another workspace' } };
  bench.desk.told({ type: 'grant', callUuid: 'call-3', grants: [stolen] });
  const open = (await engineOf(VOICES, 'voice engine', 'elevenlabs').load())(() => bench.port);
  const voiceOf = (callUuid: string): TextToSpeech => open(useOf('elevenlabs', settings, callUuid));
  return { clock, fake, bench, voiceOf, voice: voiceOf(CALL) };
}

type Started = Awaited<ReturnType<typeof started>>;

function say(voice: TextToSpeech, text: string, takesMulaw = false) {
  const abort = new AbortController();
  const chunks: SpeechChunk[] = [];
  const told: { error?: Error; isDone: boolean } = { isDone: false };
  voice
    .synthesize({ text, voice: 'rachel', signal: abort.signal, takesMulaw }, (chunk) => chunks.push(chunk))
    .then(
      () => {
        told.isDone = true;
      },
      (error: Error) => {
        told.error = error;
        told.isDone = true;
      },
    );
  return {
    abort,
    chunks,
    told,
    get text() {
      return chunks.map((chunk) => chunk.text).join('');
    },
    get ms() {
      return chunks.reduce((sum, { samples }) => sum + samples.length / 16, 0);
    },
  };
}

async function until({ bench }: Started, what: string, isTrue: () => boolean): Promise<void> {
  for (let i = 0; i < 500; i++) {
    if (isTrue()) return;
    await bench.step();
  }
  throw new Error(`${what} did not come`);
}

const LOST = { kind: 'failed', reason: 'it was reset', isTimeout: false } as const;

test('a text is a context that is opened, given whole, flushed and closed for more; the key is in a header alone', async () => {
  const s = await started({ model: 'eleven_turbo_v2_5', language: 'en', speed: 1.1 });
  const one = say(s.voice, 'Hello there.');
  await until(s, 'the end', () => one.told.isDone);
  const { url, headers, told } = s.fake.last;
  expect(url.href).toMatch(/^wss:\/\/provider\.test\/v1\/text-to-speech\/rachel\/multi-stream-input\?/);
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    model_id: 'eleven_turbo_v2_5',
    output_format: 'pcm_16000',
    auto_mode: 'true',
    sync_alignment: 'true',
    language_code: 'en',
  });
  expect([headers, url.href.includes(KEY)]).toEqual([{ 'xi-api-key': KEY }, false]);
  const { context_id: id } = told[0]!;
  expect(told).toEqual([
    { text: ' ', context_id: id, voice_settings: { speed: 1.1 } },
    { text: 'Hello there. ', context_id: id, flush: true },
    { context_id: id, close_context: true },
  ]);
  expect(one.told.error).toBeUndefined();
});

test.each([
  ['eleven_flash_v2_5', 'en-US', 'en'],
  ['eleven_turbo_v2_5', 'pt_BR', 'pt'],
  ['eleven_multilingual_v2', 'en-US', null],
])('%s is told the language %s as %s', async (model, language, told) => {
  const s = await started({ model, language });
  const one = say(s.voice, 'Hello there.');
  await until(s, 'the end', () => one.told.isDone);
  expect(s.fake.last.url.searchParams.get('language_code')).toBe(told);
});

test('calls of a connection share a socket, three texts at a time; another workspace has its own', async () => {
  const s = await started();
  const all = [CALL, 'call-2', CALL, 'call-2', CALL].map((call) => say(s.voiceOf(call), 'A text that goes on.'));
  await until(s, 'the ends', () => all.every(({ told }) => told.isDone));
  expect(s.fake.sockets).toHaveLength(2);
  expect(s.fake.sockets.map(({ mostContexts }) => mostContexts)).toEqual([3, 2]);
  const next = say(s.voiceOf('call-2'), 'Next.');
  await until(s, 'the end', () => next.told.isDone);
  expect(s.fake.sockets).toHaveLength(2);
  const other = say(s.voiceOf('call-3'), 'Hello.');
  await until(s, 'the end', () => other.told.isDone);
  expect(s.fake.sockets).toHaveLength(3);
  expect(s.fake.last.headers).toEqual({ 'xi-api-key': 'of another workspace' });
});

test('what is cut takes its place until its end, its late sound is nobody’s, and no storm of cuts makes a sixth context', async () => {
  const s = await started();
  const heard: number[] = [];
  for (let i = 0; i < 30; i++) {
    const one = say(s.voice, 'A text that is cut off.');
    await until(s, 'its sound', () => one.chunks.length > 0);
    one.abort.abort();
    heard.push(one.chunks.length);
    await s.bench.step();
    expect(one.chunks).toHaveLength(heard.at(-1)!);
    expect(one.told.error?.name).toBe('AbortError');
  }
  expect(Math.max(...s.fake.sockets.map(({ mostContexts }) => mostContexts))).toBeLessThanOrEqual(3);
  const last = say(s.voice, 'Said.');
  await until(s, 'the end', () => last.told.isDone);
  expect(last.text).toBe('Said.');
});

test('a context that never ends makes its socket retire: nobody else waits for it', async () => {
  const s = await started();
  const one = say(s.voice, 'One.');
  await until(s, 'the end', () => one.told.isDone);
  const [first] = s.fake.sockets;
  const cut = say(s.voice, 'Cut off.');
  await s.bench.step();
  first!.isStalled = true;
  cut.abort.abort();
  for (let i = 0; i < 270; i++) await s.bench.step();
  expect(first!.isOpen).toBe(false);
  const next = say(s.voice, 'Next.');
  await until(s, 'the end', () => next.told.isDone);
  expect(next.told.error).toBeUndefined();
});

test('a socket lost in mid-text: the words that were not said to their end are said over another', async () => {
  const s = await started();
  const text = 'One two three four five.';
  const one = say(s.voice, text);
  await until(s, 'some sound', () => one.chunks.length >= 2);
  s.fake.last.end(LOST);
  await until(s, 'the end', () => one.told.isDone);
  expect(one.told.error).toBeUndefined();
  expect(s.fake.texts).toEqual(['One two three four five. ', 'three four five. ']);
  const words = one.chunks.flatMap((chunk) => chunk.words ?? []);
  expect(words.map(({ charStart, charEnd }) => text.slice(charStart, charEnd))).toEqual(text.split(' '));
});

test('one that gives no sound within 1.5 s is left, and its texts are said over another; twice is a failure', async () => {
  const s = await started();
  s.fake.isStalled = true;
  const one = say(s.voice, 'Hello there.');
  await until(s, 'the first socket', () => s.fake.texts.length === 1);
  const askedAtMs = s.clock.nowMs();
  s.fake.isStalled = false;
  await until(s, 'the end', () => one.told.isDone);
  expect(one.told.error).toBeUndefined();
  expect(s.fake.sockets.map(({ isOpen }) => isOpen)).toEqual([false, true]);
  expect(s.clock.nowMs() - askedAtMs).toBeGreaterThan(1_500);
  s.fake.last.isStalled = true;
  s.fake.isStalled = true;
  const two = say(s.voice, 'Hello there.');
  await until(s, 'the end', () => two.told.isDone);
  expect(two.told.error).toMatchObject({ name: 'VoiceError', code: 'engine_failed' });
});

test.each([
  [401, 'refused'],
  [429, 'overloaded'],
])('an upgrade that is answered %i fails the text as %s, at once', async (status, code) => {
  const s = await started();
  s.fake.refusals.push(status);
  const one = say(s.voice, 'Hello.');
  await until(s, 'the end', () => one.told.isDone);
  expect(one.told.error).toMatchObject({ name: 'VoiceError', code });
  expect(one.told.error?.message).not.toContain(KEY);
  expect(s.fake.sockets).toHaveLength(1);
});

test('a key revoked in mid-text fails it; what answers for another context is not said', async () => {
  const s = await started();
  const one = say(s.voice, 'A text that goes on and on.');
  await until(s, 'some sound', () => one.chunks.length > 0);
  s.fake.last.refuse('invalid_api_key', 'Invalid API key');
  await until(s, 'the end', () => one.told.isDone);
  expect(one.told.error).toMatchObject({ code: 'refused' });
  const two = say(s.voice, 'Two.');
  await until(s, 'its socket', () => s.fake.last.isOpen && s.fake.sockets.length === 2);
  s.fake.last.isForeign = true;
  const foreignAtMs = s.clock.nowMs();
  await until(s, 'the end', () => two.told.isDone);
  expect([two.told.error, two.text, s.fake.sockets.length]).toEqual([undefined, 'Two.', 3]);
  // At once, and not when its own sound is overdue.
  expect(s.clock.nowMs() - foreignAtMs).toBeLessThan(1_000);
});

test('garbage is passed over, and three in a row end the socket', async () => {
  const s = await started();
  const one = say(s.voice, 'Hello there, and there.');
  await until(s, 'some sound', () => one.chunks.length > 0);
  s.fake.last.raw('{"audio":');
  s.fake.last.raw('[]');
  await until(s, 'the end', () => one.told.isDone);
  expect(one.told.error).toBeUndefined();
  for (let i = 0; i < 3; i++) s.fake.last.raw('\u0000');
  expect(s.fake.last.isOpen).toBe(false);
});

test('without times of characters each word still has one, inside of the sound', async () => {
  const s = await started();
  s.fake.isUntimed = true;
  const one = say(s.voice, 'Hello there.');
  await until(s, 'the end', () => one.told.isDone);
  const words = one.chunks.flatMap((chunk) => chunk.words ?? []);
  expect(words.map(({ charStart, charEnd }) => [charStart, charEnd])).toEqual([
    [0, 5],
    [6, 12],
  ]);
  expect(one.ms).toBe('Hello there. '.length * CHAR_MS);
});

test('a withdrawn connection ends what it says', async () => {
  const s = await started();
  const one = say(s.voice, 'A text that goes on and on.');
  await until(s, 'some sound', () => one.chunks.length > 0);
  s.bench.desk.told({ type: 'revoke', callUuid: CALL });
  await until(s, 'the end', () => one.told.isDone);
  expect(one.told.error).toMatchObject({ code: 'refused' });
});

test('an idle socket is kept alive, and closed after five minutes', async () => {
  const s = await started();
  const one = say(s.voice, 'Hello.');
  await until(s, 'the end', () => one.told.isDone);
  const before = s.fake.last.told.length;
  for (let i = 0; i < 50; i++) {
    s.clock.advanceMs(1_000);
    await s.bench.step();
  }
  expect(s.fake.last.told.slice(before)).toEqual([{ text: '' }, { text: '' }, { text: '' }]);
  s.clock.advanceMs(300_000);
  await s.bench.step();
  expect(s.fake.last.isOpen).toBe(false);
  expect(s.fake.last.told.at(-1)).toEqual({ close_socket: true });
});

test('an idle socket that gives no sign of life is left before anybody speaks over it', async () => {
  const s = await started();
  const one = say(s.voice, 'Hello.');
  await until(s, 'the end', () => one.told.isDone);
  const [first] = s.fake.sockets;
  first!.answersPings = false;
  first!.isStalled = true;
  for (let i = 0; i < 25; i++) {
    s.clock.advanceMs(1_000);
    await s.bench.step();
  }
  expect(first!.isOpen).toBe(false);
  const two = say(s.voice, 'Hello again.');
  await until(s, 'the end', () => two.told.isDone);
  expect([two.told.error, s.fake.sockets.length]).toEqual([undefined, 2]);
});

test('a text that is late is begun again alone: what sounds over the same socket goes on', async () => {
  const s = await started();
  s.fake.chunkEveryMs = 200;
  const one = say(s.voice, 'One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen.');
  await until(s, 'some sound', () => one.chunks.length >= 2);
  s.fake.unheard.add('Late.');
  const late = say(s.voiceOf('call-2'), 'Late.');
  await until(s, 'the end', () => one.told.isDone);
  expect(one.told.error).toBeUndefined();
  await until(s, 'the end', () => late.told.isDone);
  expect(late.told.error).toBeUndefined();
  expect(s.fake.texts.map((text) => text.split(' ')[0])).toEqual(['One', 'Late.', 'Late.']);
});

test('a socket that hangs behind its last sound costs each of its texts one try', async () => {
  const s = await started();
  s.fake.chunkEveryMs = 200;
  const text = 'One two three four five six seven eight nine ten eleven twelve thirteen.';
  const one = say(s.voice, text);
  await until(s, 'some sound', () => one.chunks.length >= 2);
  const [first] = s.fake.sockets;
  const late = say(s.voiceOf('call-2'), 'Late.');
  s.fake.unheard.add('Late.');
  const chunks = one.chunks.length;
  await until(s, 'one sound more', () => one.chunks.length > chunks);
  first!.isStalled = true;
  await until(s, 'the ends', () => one.told.isDone && late.told.isDone);
  expect([one.told.error, late.told.error]).toEqual([undefined, undefined]);
});

test('characters are counted, of what was cut too', async () => {
  const s = await started();
  const one = say(s.voice, 'Hello.');
  await until(s, 'the end', () => one.told.isDone);
  const two = say(s.voice, 'Cut off.');
  await s.bench.step();
  two.abort.abort();
  await s.bench.step();
  const lines = s.bench.told.flatMap((message) => (message.type === 'usage' ? message.lines : []));
  expect(lines.map(({ unit, quantity, model }) => [unit, quantity, model])).toEqual([
    ['characters', 6, 'eleven_flash_v2_5'],
    ['characters', 8, 'eleven_flash_v2_5'],
  ]);
});

test('what never reached the service is not counted, and what is said again counts again', async () => {
  const s = await started();
  const counted = (): number[] =>
    s.bench.told.flatMap((message) => (message.type === 'usage' ? message.lines.map(({ quantity }) => quantity) : []));
  s.fake.refusals.push(401);
  const one = say(s.voice, 'Hello.');
  await until(s, 'the end', () => one.told.isDone);
  expect(counted()).toEqual([]);
  s.fake.isStalled = true;
  const two = say(s.voice, 'Hello there.');
  await until(s, 'its socket', () => s.fake.texts.length === 1);
  s.fake.isStalled = false;
  await until(s, 'the end', () => two.told.isDone);
  expect(counted()).toEqual([24]);
});

test.each([
  ['far behind the sound', (startMs: number) => startMs * 1_000],
  ['before it', (startMs: number) => startMs - 60_000],
  ['beyond all numbers', () => Number.MAX_VALUE],
])('times that are told %s are within it', async (_what, charTime) => {
  const s = await started();
  s.fake.charTime = charTime;
  const one = say(s.voice, 'One two three four five.');
  await until(s, 'the end', () => one.told.isDone);
  let atMs = 0;
  for (const { words = [], samples } of one.chunks) {
    const endsAtMs = atMs + samples.length / 16;
    for (const { startMs, endMs } of words) {
      expect(atMs + startMs).toBeGreaterThanOrEqual(0);
      expect(atMs + endMs).toBeLessThanOrEqual(endsAtMs + 0.001);
    }
    atMs = endsAtMs;
  }
  expect(one.chunks.flatMap(({ words = [] }) => words)).toHaveLength(5);
});
